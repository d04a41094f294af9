"""`crawler up`: run the whole system until Ctrl-C.

Done in `entrypoints/cli/actions/up.py`.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from crawler.lazy_module import LazyModule

if TYPE_CHECKING:
    from crawler.entrypoints.cli.actions import up as stack
else:
    stack = LazyModule("crawler.entrypoints.cli.actions.up")


def up(
    host: Annotated[str | None, typer.Option(help="Address to bind; default CRAWLER_API_HOST, loopback.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to bind; default CRAWLER_API_PORT.")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show what every process says.")] = False,
    no_auth: Annotated[bool, typer.Option("--no-auth", help="Ask for no API key; only on a loopback address.")] = False,
) -> None:
    """Run dashboard, service, workers, schedules and Flower until Ctrl-C."""
    raise typer.Exit(stack.run_stack(host, port, verbose=verbose, no_auth=no_auth))
