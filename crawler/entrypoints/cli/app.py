"""The `crawler` command: which subcommands it has, and where each is."""

from crawler.entrypoints.cli.error_exit import guarded
from crawler.entrypoints.cli.lazy_group import Subcommand, lazy_group
from crawler.entrypoints.cli.root_command import make_cli

SECTIONS = {
    "Start here": (
        Subcommand("run", "run:run", "Crawl one website; again: what changed?"),
        Subcommand("watch", "watch_url:watch", "Check a page again and again; tell what changed."),
        Subcommand("up", "up:up", "Dashboard, schedules and workers, until Ctrl-C."),
        Subcommand("get", "get:get", "One page now, as markdown."),
        Subcommand("map", "get:map_site", "The URLs of a site, without crawling it."),
    ),
    "What was found": (
        Subcommand("changes", "changes:changes", "What a crawl found changed."),
        Subcommand("report", "report:report", "Broken links, redirects, titles and more."),
        Subcommand("explain", "explain:explain", "Why a URL was (not) crawled."),
        Subcommand("export", "exports:export", "Write a crawl's pages to files."),
        Subcommand("search", "documents:search", "Search a project's documents."),
        Subcommand("documents", "documents:documents", "A project's pages as documents."),
        Subcommand("audit", "audit:audit", "Was a crawl polite? Counted, by host."),
    ),
    "What counts, and who is told": (
        Subcommand("schedule", "schedules:schedules", "When projects are crawled again, and who is told."),
        Subcommand("noise", "noise:noise", "What changes by itself and is not to be told."),
        Subcommand("watch-rule", "watching:watching", "Which parts and values count, and when they are told."),
        Subcommand("recipient", "recipients:recipients", "Who else is told, of what, and when."),
        Subcommand("notification", "notifications:notifications", "Notifications sent, and delivery results."),
        Subcommand("feed", "change_feeds:change_feeds", "Atom feeds of changes, for feed readers."),
    ),
    "Projects, crawls and lists": (
        Subcommand("project", "projects:projects", "Websites to crawl and watch."),
        Subcommand("crawl", "crawls:crawls", "Look at crawls and steer them."),
        Subcommand("source", "sources:sources", "Add pages of a website to a project."),
        Subcommand("queue", "queue:queue", "URLs of many sites, fetched in batches."),
        Subcommand("category", "categories:categories", "How the queue's pages are read, by category."),
    ),
    "How sites are asked": (
        Subcommand("host", "hosts:hosts", "Look at hosts and steer how they are asked."),
        Subcommand("credential", "credentials:credentials", "Headers, cookies and logins a project sends."),
        Subcommand("login", "logins:logins", "Steps that sign a project in, in a browser."),
    ),
    "This installation": (
        Subcommand("doctor", "doctor:doctor", "What is wrong, and how to mend it."),
        Subcommand("key", "keys:keys", "Make, list and revoke API keys."),
        Subcommand("mcp", "mcp:mcp", "Tools for agents, over standard input."),
        Subcommand("prune", "prune:prune", "Delete what is older than it is kept."),
        Subcommand("move", "move:move", "To a Postgres and Redis of your own."),
        Subcommand("rebuild-frontier", "crawls:rebuild_frontier", "Fill a crawl's queue in Redis anew."),
    ),
}

SUBCOMMANDS = tuple(one for section in SECTIONS.values() for one in section)

cli = make_cli(lazy_group(SECTIONS))


def main() -> None:
    guarded(cli)
