"""The `crawler` command without its subcommands: name, help, version."""

from typing import Annotated

import typer
from typer.core import TyperGroup

from crawler import __version__


def make_cli(group: type[TyperGroup] | None = None) -> typer.Typer:
    cli = typer.Typer(
        name="crawler",
        cls=group,
        help="Crawl websites politely, keep every page, crawl again, and see what really changed.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # else Rich takes "[default: 200]" for markup and drops it
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    cli.callback()(_options)
    return cli


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and end.")
    ] = False,
) -> None:
    """Settings are environment variables, CRAWLER_…; docs/reference/settings.md lists them."""
