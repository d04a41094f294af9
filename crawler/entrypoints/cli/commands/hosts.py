"""`crawler host`: delay, pauses and blocks of each host, and how an operator changes them.

Decided in `handlers/hosts/control_host.py` and `describe_hosts.py` beside it; delays and blocks in
`domain/hosts/politeness.py`.
"""

import json
from collections.abc import Iterator
from typing import Annotated

import typer

from crawler.entrypoints.cli.backend.opening import open_backend
from crawler.entrypoints.cli.screen.streams import echo
from crawler.lazy_module import on_first_use

with on_first_use():
    from rich.table import Table
    from rich.text import Text

    from crawler.domain.hosts.overview import HostOverview, checked_delay, host_name
    from crawler.entrypoints.cli.screen.terminal import clean, console, moment, print_rows
    from crawler.entrypoints.cli.screen.terminal_text import count, duration


hosts = typer.Typer(no_args_is_help=True)

HEADINGS = ("host", "requests", "gap", "blocked until", "state")
LEGEND = "requests: of the last 24 hours; gap: least time between two, before a project's own delay"

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]
Host = Annotated[str, typer.Argument(metavar="HOST", help="example.org, example.org:8080, or a URL of it.")]


@hosts.command("list")
def list_hosts(
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Show so many at most.")] = 200, as_json: AsJson = False
) -> None:
    """Hosts that are known: first those paused or blocked, then those asked most in the last 24 hours."""
    with open_backend() as backend:
        found = backend.list_hosts(limit)
    if as_json:
        dumped = [host.model_dump(mode="json", exclude={"robots", "waiting"}) for host in found.hosts]
        echo(json.dumps({"total": found.total, "hosts": dumped}, indent=2))
        return
    screen = console()
    if not found.hosts:
        screen.print("No crawl has met a host yet.")
        return
    print_rows(screen, HEADINGS, map(_row, found.hosts), right=("requests",))
    if found.total > len(found.hosts):
        screen.print(f"… and {found.total - len(found.hosts)} more; --limit shows them.", style="dim")
    screen.print(LEGEND, style="dim")


@hosts.command()
def show(host: Host, as_json: AsJson = False) -> None:
    """All about one host: its gap and who asked for it, blocks, robots.txt, and what waits there."""
    name = host_name(host)
    with open_backend() as backend:
        found = backend.get_host(name)
    if as_json:
        echo(found.model_dump_json(indent=2))
        return
    rows = Table(box=None, show_header=False, pad_edge=False)
    rows.add_column(style="dim", no_wrap=True)
    rows.add_column(overflow="fold")
    for name, words in _lines(found):
        rows.add_row(name, clean(words))
    screen = console()
    screen.print(clean(found.host), style="bold")
    screen.print(rows)


@hosts.command()
def pause(host: Host) -> None:
    """Ask nothing of a host, for any crawl, until it is resumed; also after a restart."""
    name = host_name(host)
    with open_backend() as backend:
        backend.pause_host(name)
    echo(f"{name} is paused; 'crawler host resume {name}' lets requests go there again.")


@hosts.command()
def resume(host: Host) -> None:
    """Let requests go to a host again."""
    name = host_name(host)
    with open_backend() as backend:
        backend.resume_host(name)
    echo(f"{name} is asked again, as politely as ever.")


@hosts.command(context_settings={"ignore_unknown_options": True})  # so that -5 is read as a number, not as an option
def delay(
    host: Host, seconds: Annotated[float, typer.Argument(metavar="SECONDS", help="From 0 (no wish of yours) to 3600.")]
) -> None:
    """Keep at least so long between two requests to a host, whatever projects ask for."""
    name = host_name(host)
    with open_backend() as backend:
        backend.delay_host(name, checked_delay(seconds))
    told = f"at least {duration(seconds)} apart" if seconds else "as far apart as projects and the host itself ask for"
    echo(f"Requests to {name} are {told}.")


def _row(host: HostOverview) -> list[str | Text]:
    gap = duration(host.gap_seconds) if host.gap_seconds else ""
    return [clean(host.host), str(host.requests_24h), gap, moment(host.blocked_until), _state(host)]


def _state(host: HostOverview) -> str:
    if host.paused:
        return "paused"
    return "blocked" if host.blocked_until else ""


def _lines(host: HostOverview) -> Iterator[tuple[str, str]]:
    yield "state", _state(host) or "asked as usual"
    if host.blocked_until:
        yield "blocked until", moment(host.blocked_until)
    yield "gap", f"{duration(host.gap_seconds)} ({host.gap_because}); a project's own delay may be longer"
    yield "learned gap", duration(host.learned_seconds)
    yield "operator's gap", duration(host.operator_seconds)
    yield "incidents", f"{host.incidents} that count; {host.complaints_24h} answers 429 or 503 in 24 hours"
    last = f", the last {moment(host.last_request_at)}" if host.last_request_at else ""
    yield "requests", f"{host.requests_24h} in 24 hours, {host.in_flight} in flight{last}"
    if host.robots:
        yield "robots.txt", host.robots.words
        read = f"{host.robots.bytes} bytes, asked for {moment(host.robots.fetched_at)}"
        yield "", read if host.robots.fetched_at else ""
        if host.robots.crawl_delay_seconds:
            yield "", f"it asks for {duration(host.robots.crawl_delay_seconds)} between requests"
    for wait in host.waiting:
        due = f", due in {duration(wait.due_seconds)}" if wait.due_seconds else ""
        yield "waiting", f"{count(wait.queued, 'URL')} of crawl {wait.crawl_id} ({wait.lane}): {wait.why}{due}"
