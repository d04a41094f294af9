"""The `crawler` command."""

from crawler.entrypoints.cli.audit import audit
from crawler.entrypoints.cli.crawls import crawls, rebuild_frontier
from crawler.entrypoints.cli.doctor import doctor
from crawler.entrypoints.cli.ending import guarded, quiet_logs
from crawler.entrypoints.cli.explain import explain
from crawler.entrypoints.cli.exports import export
from crawler.entrypoints.cli.frame import make_cli
from crawler.entrypoints.cli.hosts import hosts
from crawler.entrypoints.cli.keys import keys
from crawler.entrypoints.cli.projects import projects
from crawler.entrypoints.cli.prune import prune
from crawler.entrypoints.cli.run import run
from crawler.entrypoints.cli.up import up

cli = make_cli()
cli.command()(run)
cli.command()(up)
cli.command()(doctor)
cli.command()(prune)
cli.add_typer(projects, name="project")
cli.add_typer(crawls, name="crawl")
cli.command()(export)
cli.command()(audit)
cli.command()(explain)
cli.add_typer(hosts, name="host")
cli.command("rebuild-frontier")(rebuild_frontier)
cli.add_typer(keys, name="key")


def main() -> None:
    quiet_logs()
    guarded(cli)
