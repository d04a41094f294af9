"""Prints a diagnosis of servers, schema, browser, clock and settings, and how to fix what is wrong.

The checks are in `entrypoints/doctor.py`.
"""

import json
from contextlib import suppress

from rich.table import Table
from rich.text import Text

from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.secret_key_owner import claim_secret_key
from crawler.bootstrap import build, with_servers
from crawler.config import Settings, load_settings
from crawler.entrypoints.cli.error_exit import quiet_logs
from crawler.entrypoints.cli.screen.streams import echo
from crawler.entrypoints.cli.screen.terminal import console
from crawler.entrypoints.doctor import Check, diagnose, told
from crawler.errors import CrawlerError

MARKS = {"ok": "green", "wrong": "red", "hint": "yellow"}


def print_diagnosis(*, fix: bool, new_secret_key: bool, as_json: bool) -> bool:
    """Returns whether all is well."""
    quiet_logs()
    checks = _checks(load_settings(), fix=fix, new_secret_key=new_secret_key)
    healthy = all(check.ok or not check.required for check in checks)
    if as_json:
        echo(json.dumps({"ok": healthy, "checks": [check._asdict() for check in checks]}, indent=2))
    else:
        console().print(_table(checks))
    return healthy


def _checks(settings: Settings, *, fix: bool, new_secret_key: bool) -> list[Check]:
    """All checks. If the servers cannot be started, that is one failed check, and the others still run."""
    try:
        started, embedded = with_servers(settings)
    except CrawlerError as exc:
        return [told("servers", exc), *map(_after_servers, diagnose(build(settings), fix=fix))]
    try:
        tools = build(started)
        if new_secret_key:
            with suppress(CrawlerError), transaction(tools.database) as db:  # a failure is reported by the checks
                claim_secret_key(db, tools.secret_box, anew=True)
        return diagnose(tools, fix=fix or embedded is not None)
    finally:
        if embedded is not None:
            embedded.release()


def _after_servers(check: Check) -> Check:
    return check if check.ok or check.fix else check._replace(fix="Mend the servers first.")


def _table(checks: list[Check]) -> Table:
    """The checks as a table. A fix is shown below its problem: most terminals have no room beside it."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        mark = "ok" if check.ok else "wrong" if check.required else "hint"
        table.add_row(Text(mark, MARKS[mark]), check.name, check.message)
        if check.fix:
            table.add_row("", "", Text(check.fix, "dim"))
    return table
