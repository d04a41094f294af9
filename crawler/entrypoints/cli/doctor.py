"""`crawler doctor`: what is wrong, and how to mend it."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from crawler.bootstrap import build, with_servers
from crawler.config import load_settings
from crawler.entrypoints.doctor import Check, diagnose


def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Bring the database schema up to date.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for programs.")] = False,
) -> None:
    """Look at servers, schema, browser, clock and settings; say how to mend what is wrong."""
    settings, embedded = with_servers(load_settings())
    try:
        checks = diagnose(build(settings), fix=fix or embedded is not None)
    finally:
        if embedded is not None:
            embedded.release()
    healthy = all(check.ok or not check.required for check in checks)
    if as_json:
        typer.echo(json.dumps({"ok": healthy, "checks": [check._asdict() for check in checks]}, indent=2))
    else:
        Console().print(_table(checks))
    if not healthy:
        raise typer.Exit(3)


def _table(checks: list[Check]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("", "check", "finding", "how to mend it"):
        table.add_column(heading, overflow="fold")
    for check in checks:
        mark = "[green]ok[/]" if check.ok else "[red]wrong[/]" if check.required else "[yellow]hint[/]"
        table.add_row(mark, check.name, check.message, check.fix or "")
    return table
