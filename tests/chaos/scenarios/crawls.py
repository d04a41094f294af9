"""What people do to crawls while things break, and what a crawl may not do whatever breaks."""

import signal
import time
from contextlib import suppress
from typing import Any
from uuid import UUID

import psutil
from sqlalchemy import Row, text

from tests.acceptance.cli import Cli
from tests.chaos import faults
from tests.chaos.scenario import DELAY_SECONDS, POLITE_HOSTS, QUICK_CONCURRENCY, QUICK_HOST, Arena, scenario
from tests.chaos.servers import POSTGRES, VALKEY
from tests.chaos.stack import Crawl, Stack
from tests.site.bodies import KILL_MARK
from tests.site.graph import address

QUIET_SECONDS = 5.0
"""After which nothing of a paused or cancelled crawl may be asked for."""


@scenario(seconds=80, environment={"CRAWLER_FAILPOINT": f"parse=<h1>{KILL_MARK}</h1>"}, judged=False)
def poison(arena: Arena) -> None:
    """B22: a page kills each worker that reads it: `poison` after three, and its neighbours are done (G13)."""
    stack, crawl = arena.stack, arena.crawls[1]
    killer = stack.site.url("/x/kill-me", host=QUICK_HOST)
    stack.site.edit("/", host=QUICK_HOST, append=f'<a href="{killer}">one more</a>')
    stack.wait_done(arena.crawls, 80)
    (row,) = _rows(stack, crawl, killer)
    assert (row.fetch_state, row.reason) == ("failed", "poison"), row
    asked = sum(request.path == "/x/kill-me" for request in stack.site.requests())
    assert asked == 3, f"asked for {asked} times"
    innocent = [found.normalized_url for found in _rows(stack, crawl) if found.reason == "poison"]
    assert innocent == [killer], innocent
    done = sum(expected.state == "done" for expected in crawl.expected.values())
    assert stack.row(crawl).pages_crawled == done, stack.row(crawl)


def _rows(stack: Stack, crawl: Crawl, url: str = "") -> list[Row[Any]]:
    query = "SELECT * FROM crawl_discovered_urls WHERE crawl_job_id = :id AND (:url = '' OR normalized_url = :url)"
    with stack.tools.database.begin() as db:
        return list(db.execute(text(query), {"id": crawl.id, "url": url}))


@scenario(seconds=80, starts=False, judged=False)
def bounded(arena: Arena) -> None:
    """`max_pages` is exact while workers are killed and Redis loses its data, or only what it wrote last."""
    stack = arena.stack
    stack.site.set_fault(host=QUICK_HOST, delay=0.3)
    arena.crawls = [
        stack.crawl(hosts=POLITE_HOSTS, delay=DELAY_SECONDS / 2, max_pages=170),
        stack.crawl(hosts=[QUICK_HOST], concurrency=QUICK_CONCURRENCY, max_pages=50),
    ]
    arena.under_way(60)
    faults.kill_child(stack, arena.rng)
    faults.forget_redis(stack, arena.rng)
    arena.recovers(60)
    faults.kill_child(stack, arena.rng)
    faults.tear_redis(stack, arena.rng)
    stack.wait_done(arena.crawls, 80)
    for crawl, limit in zip(arena.crawls, (170, 50), strict=True):
        row = stack.row(crawl)
        assert (row.pages_crawled, row.end_reason) == (limit, "max_pages"), row
        queued = [found for found in _rows(stack, crawl) if found.fetch_state == "queued"]
        assert not queued, f"{len(queued)} URLs still wait"


@scenario(seconds=60)
def paused_over_a_restart(arena: Arena) -> None:
    """F15: crawl and host are paused, everything is killed and started again: no request until resumed (G10)."""
    stack = arena.stack
    arena.under_way()
    for crawl in arena.crawls:
        stack.tools.crawls.control.pause(crawl.id)
    time.sleep(QUIET_SECONDS)
    before = stack.asked()
    stack.kill_workers()
    for server in (VALKEY, POSTGRES):
        stack.servers.kill(server)
    stack.servers.start()
    stack.start_workers()
    time.sleep(12)  # three reconciliations, all workers up
    assert stack.asked() == before, f"{stack.asked() - before} requests while paused"
    for crawl in arena.crawls:
        stack.tools.crawls.control.resume(crawl.id)
    arena.recovers(30)


@scenario(seconds=60)
def paused_host(arena: Arena) -> None:
    """F15: one host is paused and Redis loses all it knew: the host stays paused, the others go on (G10)."""
    stack = arena.stack
    arena.under_way()
    name, paused = f"{address(QUICK_HOST)}:{stack.site.port}", address(QUICK_HOST)
    stack.tools.hosts.store.save_pause(name, paused=True)
    stack.tools.frontier.pause_host(name, paused=True)
    time.sleep(QUIET_SECONDS)
    faults.forget_redis(stack, arena.rng)
    moment = time.time()
    arena.recovers(60)
    time.sleep(8)
    asked = [request for request in stack.site.requests() if request.address == paused and request.arrived > moment]
    assert not asked, f"{len(asked)} requests to a paused host"
    stack.tools.hosts.store.save_pause(name, paused=False)
    stack.tools.frontier.pause_host(name, paused=False)


@scenario(seconds=60)
def paused_without_redis(arena: Arena) -> None:
    """A crawl is paused and Redis loses all it knew: the record is in Postgres (G10)."""
    stack = arena.stack
    arena.under_way()
    for crawl in arena.crawls:
        stack.tools.crawls.control.pause(crawl.id)
    faults.forget_redis(stack, arena.rng)
    time.sleep(QUIET_SECONDS)
    before = stack.asked()
    time.sleep(10)
    assert stack.asked() == before, f"{stack.asked() - before} requests while paused"
    for crawl in arena.crawls:
        stack.tools.crawls.control.resume(crawl.id)
    arena.recovers(30)


@scenario(seconds=60, judged=False)
def cancelled(arena: Arena) -> None:
    """F15: cancelled while a worker is stopped with pages at hand: no row and no request later, nothing left."""
    stack = arena.stack
    arena.under_way()
    with faults.stopped(stack.child(stack.fetchers[0])):
        time.sleep(1)
        for crawl in arena.crawls:
            stack.tools.crawls.control.cancel(crawl.id)
        stored = [stack.row(crawl).pages_crawled for crawl in arena.crawls]
        time.sleep(QUIET_SECONDS)
        before = stack.asked()
    time.sleep(10)
    arena.note(f"{stack.asked() - before} requests of the stopped worker after it went on")
    crawls, arena.crawls = arena.crawls, []
    for crawl, pages in zip(crawls, stored, strict=True):
        assert stack.row(crawl).pages_crawled == pages, "a page was stored after the end"
        assert not [row for row in _rows(stack, crawl) if row.fetch_state == "queued"]
        assert stack.tools.frontier.stats(crawl.id) is None


@scenario(seconds=60, beat=False)
def without_beat(arena: Arena) -> None:
    """Beat never comes back: shifts look for lost work themselves."""
    arena.under_way()
    for _ in range(4):
        faults.kill_child(arena.stack, arena.rng)
        faults.kill_worker(arena.stack, arena.rng)
        time.sleep(arena.rng.uniform(0.5, 2))
    arena.recovers(30)


@scenario(seconds=30, starts=False, judged=False)
def same_start_twice(arena: Arena) -> None:
    """F11: one start with its idempotency key, sent ten times as a message, is one crawl."""
    stack = arena.stack
    crawl = stack.crawl(hosts=[QUICK_HOST])
    arena.crawls = [crawl]
    stack.wait_done(arena.crawls, 60)
    for _ in range(10):
        arguments = {"project_id": str(crawl.project_id), "idempotency_key": "once"}
        stack.tools.celery.send_task("crawler.start_crawl", kwargs=arguments, queue="coordinator")
    stack.eventually(lambda: len(stack.tools.store.list_crawls(crawl.project_id)) > 1, 30, "the second crawl starts")
    time.sleep(3)
    assert len(stack.tools.store.list_crawls(crawl.project_id)) == 2


@scenario(seconds=60, starts=False, judged=False)
def killed_command(arena: Arena) -> None:
    """`crawler run` and all it started are killed; the same command goes on where it stopped (G3)."""
    stack = arena.stack
    stack.kill_workers()
    ours = {name: value for name, value in stack.environment().items() if name.startswith("CRAWLER_")}
    cli = Cli(stack.data_dir, **ours)
    command = ("run", stack.site.url(), "--delay", "0.1", "--max-pages", "1000", "--workers", "2", "--json")
    first = cli.start(*command)
    stack.wait_asked(20)
    tree = [psutil.Process(first.pid), *psutil.Process(first.pid).children(recursive=True)]
    for process in tree:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    first.communicate()
    summary = cli.json(*command[:-1], timeout=80)
    expected = stack.site.expected()
    done = sum(e.state == "done" for e in expected.values())
    assert (summary["status"], summary["pages_crawled"]) == ("completed", done), summary
    assert summary["total_discovered"] == len(expected), summary
    assert len(stack.tools.store.list_crawls(UUID(summary["project_id"]))) == 1
    stack.start_workers()


@scenario(seconds=60, starts=False, judged=False, pages=300)
def memory(arena: Arena) -> None:
    """G14: seven crawls in a row: memory, files, processes and keys are what they were after the third."""
    stack = arena.stack
    seen = []
    for _ in range(7):
        crawl = stack.crawl(hosts=range(5), concurrency=8, delay=0.0)
        stack.wait_done([crawl], 60)
        arena.crawls = [crawl]
        time.sleep(1)
        seen.append(_footprint(stack))
    warm, last = seen[2], seen[-1]
    arena.note(", ".join(f"{kind} {warm[kind]} → {last[kind]}" for kind in warm))
    for kind, allowed in (("MB", 1.1), ("files", 1.1), ("processes", 1.0), ("keys", 1.1)):
        assert last[kind] <= warm[kind] * allowed + 1, (kind, seen)


def _footprint(stack: Stack) -> dict[str, int]:
    children = [stack.child(name) for name in stack.fetchers]
    with stack.servers.redis() as redis:
        keys = sum(1 for key in redis.scan_iter("cr:*") if b":events:" not in key)
    return {
        "MB": sum(child.memory_info().rss for child in children) // 2**20,
        "files": sum(child.num_fds() for child in children),
        "processes": len(stack.processes()),
        "keys": keys,
    }


@scenario(seconds=60)
def second_term(arena: Arena) -> None:
    """F17: an impatient TERM, TERM and KILL after ten seconds, as containers are stopped: nothing is lost (G15)."""
    stack = arena.stack
    arena.under_way()
    main = stack.main(stack.fetchers[0])
    began = time.monotonic()
    for _ in range(2):
        with suppress(psutil.NoSuchProcess):
            main.send_signal(signal.SIGTERM)
        time.sleep(0.5)
    if not stack.wait_gone(main, 10):
        main.kill()
    arena.note(f"stopped in {time.monotonic() - began:.1f} s")
    arena.recovers(30)
