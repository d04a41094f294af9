"""`crawler run` without the other commands: their imports would hold up its first request."""

from crawler.entrypoints.cli.ending import guarded
from crawler.entrypoints.cli.frame import make_cli
from crawler.entrypoints.cli.run import run

cli = make_cli()
cli.command()(run)


def main() -> None:
    guarded(cli)
