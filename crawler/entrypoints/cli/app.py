"""The `crawler` command."""

import os
import sys
from typing import Annotated

import typer
from rich.console import Console

from crawler import __version__
from crawler.entrypoints.cli.audit import audit
from crawler.entrypoints.cli.crawls import crawls, rebuild_frontier
from crawler.entrypoints.cli.doctor import doctor
from crawler.entrypoints.cli.keys import keys
from crawler.entrypoints.cli.projects import projects
from crawler.entrypoints.cli.prune import prune
from crawler.entrypoints.cli.run import run
from crawler.entrypoints.cli.up import up
from crawler.errors import CrawlerError
from crawler.telemetry import configure_logs, logger, redact

log = logger(__name__)

cli = typer.Typer(
    name="crawler",
    help="Crawl websites politely, keep every page, crawl again, and see what really changed.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # or "[default: 200]" is taken for markup and vanishes
    context_settings={"help_option_names": ["-h", "--help"]},
)
cli.command()(run)
cli.command()(up)
cli.command()(doctor)
cli.command()(prune)
cli.add_typer(projects, name="project")
cli.add_typer(crawls, name="crawl")
cli.command()(audit)
cli.command("rebuild-frontier")(rebuild_frontier)
cli.add_typer(keys, name="key")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@cli.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Settings are environment variables, CRAWLER_…; docs/operations.md lists them."""


def main() -> None:
    """An error a person can mend is one sentence on stderr and an exit status, never a traceback."""
    debugging = os.environ.get("CRAWLER_LOG_LEVEL") == "debug"
    configure_logs("debug" if debugging else "critical")
    try:
        cli()
    except CrawlerError as exc:
        _tell(exc.message)
        sys.exit(exc.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as exc:
        log.exception("unexpected_error")
        _tell(
            f"Something went wrong that should not have: {type(exc).__name__}: {exc}. Set CRAWLER_LOG_LEVEL=debug "
            "for the details."
        )
        sys.exit(1)


def _tell(sentence: str) -> None:
    Console(stderr=True, highlight=False, markup=False).print(redact(" ".join(sentence.split())), style="red")
