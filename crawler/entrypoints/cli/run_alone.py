"""`crawler run` without the other commands, because their imports would delay its first request."""

from crawler.entrypoints.cli.commands.run import run
from crawler.entrypoints.cli.error_exit import guarded
from crawler.entrypoints.cli.root_command import make_cli

cli = make_cli()
cli.command()(run)


def main() -> None:
    guarded(cli)
