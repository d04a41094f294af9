"""`crawler audit`: check from the request log whether a crawl kept its delays and limits for each host.

What is a violation: `adapters/operating/politeness_audit.py`.
"""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.entrypoints.cli.backend.naming import open_crawl
from crawler.entrypoints.cli.input.names import LATEST, CrawlName
from crawler.entrypoints.cli.screen.streams import echo
from crawler.lazy_module import on_first_use

if TYPE_CHECKING:
    from crawler.adapters.operating.politeness_audit import HostAudit

with on_first_use():
    from rich.text import Text

    from crawler.entrypoints.cli.screen.terminal import clean, console, print_rows
    from crawler.entrypoints.cli.screen.terminal_text import count


LEGEND = (
    "gap: least time between two requests, of whichever crawl; owed: what the project or robots.txt asks for; "
    "at once: most requests open together, of those allowed; extra: robots.txt, sitemaps, probes; "
    "again: pages asked for once more"
)


def audit(
    named: CrawlName = LATEST,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Smallest gap, largest parallelism and violations per host; exit status 1 if there is a violation."""
    with open_crawl(named) as (backend, crawl_id):
        hosts = backend.audit(crawl_id)
    violations = sum(host.violations for host in hosts)
    if as_json:
        echo(json.dumps({"violations": violations, "hosts": [host._asdict() for host in hosts]}, indent=2))
    else:
        _show(hosts, violations)
    if violations:
        raise typer.Exit(1)


def _show(hosts: list["HostAudit"], violations: int) -> None:
    screen = console()
    if not hosts:
        screen.print("The log has no request of this crawl: it made none, or they are no longer kept.")
        return
    numbers = ("requests", "gap", "owed", "at once", "extra", "again", "violations")
    print_rows(screen, ("host", *numbers), map(_row, hosts), right=numbers)
    if violations:
        screen.print(f"{count(violations, 'violation')}.", style="red")
    else:
        screen.print("No violation.", style="green")
    if uncertain := sum(host.uncertain for host in hosts):
        screen.print(f"{uncertain} requests of workers that died may or may not have been sent; they are in no gap.")
    screen.print(LEGEND, style="dim")


def _row(host: "HostAudit") -> list[str | Text]:
    gap = f"{host.smallest_gap_seconds:.3f} s" if host.smallest_gap_seconds is not None else ""
    at_once = f"{host.largest_parallelism} of {host.allowed_parallelism}"
    violations = Text(str(host.violations), "bold red" if host.violations else "")
    owed = f"{host.owed_gap_seconds:g} s"
    return [clean(host.host), str(host.requests), gap, owed, at_once, str(host.extra), str(host.repeated), violations]
