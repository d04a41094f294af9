"""`crawler run` without the other commands: their imports would hold up its first request."""

from crawler.entrypoints.cli.commands.run import run
from crawler.entrypoints.cli.ending import guarded
from crawler.entrypoints.cli.frame import make_cli

cli = make_cli()
cli.command()(run)


def main() -> None:
    guarded(cli)
