"""`crawler audit`: was the crawl polite? Counted, not claimed."""

import json
from typing import Annotated
from uuid import UUID

import typer
from rich.console import Console
from rich.table import Table

from crawler.entrypoints.cli.session import session


def audit(
    crawl_id: Annotated[UUID, typer.Argument(help="From 'crawler crawl list'.")],
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Smallest gap, largest parallelism and violations per host; exit status 1 if there is a violation."""
    with session() as tools:
        tools.store.get_crawl(crawl_id)
        hosts = tools.audit(crawl_id)
    violations = sum(host.violations for host in hosts)
    if as_json:
        typer.echo(json.dumps({"violations": violations, "hosts": [host._asdict() for host in hosts]}, indent=2))
    else:
        table = Table(box=None, pad_edge=False)
        for heading in ("host", "requests", "smallest gap", "owed", "at once", "violations"):
            table.add_column(heading, overflow="fold")
        for host in hosts:
            gap = f"{host.smallest_gap_seconds:.3f} s" if host.smallest_gap_seconds is not None else ""
            owed = f"{host.owed_gap_seconds:g} s"
            table.add_row(host.host, str(host.requests), gap, owed, str(host.largest_parallelism), str(host.violations))
        Console().print(table)
    if violations:
        raise typer.Exit(1)
