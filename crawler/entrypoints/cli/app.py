"""The `crawler` command with all its subcommands (Typer)."""

from crawler.entrypoints.cli.commands.audit import audit
from crawler.entrypoints.cli.commands.backtest import backtest
from crawler.entrypoints.cli.commands.categories import categories
from crawler.entrypoints.cli.commands.changes import changes
from crawler.entrypoints.cli.commands.crawls import crawls, rebuild_frontier
from crawler.entrypoints.cli.commands.doctor import doctor
from crawler.entrypoints.cli.commands.documents import documents, search
from crawler.entrypoints.cli.commands.explain import explain
from crawler.entrypoints.cli.commands.exports import export
from crawler.entrypoints.cli.commands.hosts import hosts
from crawler.entrypoints.cli.commands.keys import keys
from crawler.entrypoints.cli.commands.noise import noise
from crawler.entrypoints.cli.commands.notifications import notifications
from crawler.entrypoints.cli.commands.projects import projects
from crawler.entrypoints.cli.commands.prune import prune
from crawler.entrypoints.cli.commands.queue import queue
from crawler.entrypoints.cli.commands.report import report
from crawler.entrypoints.cli.commands.run import run
from crawler.entrypoints.cli.commands.schedules import schedules
from crawler.entrypoints.cli.commands.sources import sources
from crawler.entrypoints.cli.commands.up import up
from crawler.entrypoints.cli.commands.watch import watch
from crawler.entrypoints.cli.error_exit import guarded, quiet_logs
from crawler.entrypoints.cli.root_command import make_cli

cli = make_cli()
# These texts must fit beside the commands' names in the list; each command's own help says more.
cli.command(short_help="Crawl one website; again: what changed?")(run)
cli.command(short_help="Service, workers and Flower, until Ctrl-C.")(up)
cli.command(short_help="What is wrong, and how to mend it.")(doctor)
cli.command(short_help="Delete what is older than it is kept.")(prune)
cli.add_typer(projects, name="project")
cli.add_typer(sources, name="source")
crawls.command(short_help="Look on until it is over.")(watch)
cli.add_typer(crawls, name="crawl")
cli.command(short_help="Write a crawl's pages to files.")(export)
cli.command(short_help="What a crawl found changed.")(changes)
cli.command(short_help="Was a crawl polite? Counted, by host.")(audit)
cli.command(short_help="Why a URL was (not) crawled.")(explain)
cli.command(short_help="Broken links, redirects, titles and more.")(report)
cli.command(short_help="A project's pages as documents.")(documents)
cli.command(short_help="Search a project's documents.")(search)
cli.add_typer(queue, name="queue")
cli.add_typer(categories, name="category")
cli.add_typer(hosts, name="host")
cli.command("rebuild-frontier", short_help="Fill a crawl's queue in Redis anew.")(rebuild_frontier)
schedules.command(short_help="Try other rules on past crawls.")(backtest)
cli.add_typer(schedules, name="schedule")
cli.add_typer(noise, name="noise")
cli.add_typer(notifications, name="notification")
cli.add_typer(keys, name="key")


def main() -> None:
    quiet_logs()
    guarded(cli)
