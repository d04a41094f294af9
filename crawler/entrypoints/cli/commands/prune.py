"""`crawler prune`: delete data that is older than the retention settings allow.

What is deleted: `adapters/postgres/retention.py`.
"""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.entrypoints.cli.error_exit import quiet_logs
from crawler.entrypoints.cli.screen.streams import echo
from crawler.lazy_module import LazyModule

if TYPE_CHECKING:
    from crawler.entrypoints.cli.backend import session
else:
    session = LazyModule("crawler.entrypoints.cli.backend.session")


def prune(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and keep it.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Delete request logs, old versions, their snapshots and old crawls' URL lists, as the settings say."""
    quiet_logs()
    with session.local_session() as tools:
        pruned = tools.operating.pruner(tools.clock(), dry_run=dry_run)
    if as_json:
        echo(json.dumps({**pruned._asdict(), "dry_run": dry_run}))
        return
    verb = "would go" if dry_run else "are gone"
    going = pruned._asdict()
    missing = going.pop("missing")
    echo(f"{', '.join(f'{count} {name}' for name, count in going.items())} {verb}.")
    if missing:
        echo(
            f"{missing} stored pages are missing in the object storage; crawl them again to have them again.", err=True
        )
