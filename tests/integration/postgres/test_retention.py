"""What goes when it is old, and what never goes."""

import threading
from datetime import timedelta

import pytest
from sqlalchemy import text

from crawler.adapters.postgres import retention
from crawler.adapters.postgres import tables as t
from crawler.adapters.postgres.binary_copy import CopyInto
from crawler.adapters.postgres.database import cursor, transaction
from crawler.adapters.postgres.retention import Pruner, Retention
from crawler.domain.engine.ledger import Snapshot
from crawler.domain.engine.snapshots import snapshot
from tests.integration.live_engine import Engine
from tests.site.client import Site

COPY = CopyInto(t.snapshots, Snapshot._fields)
EVERYTHING = Retention(request_log_days=1, keep_versions=1, keep_crawl_days=1)


def counts(crawler: Engine) -> dict[str, int]:
    tables = ("request_log", "page_versions", "snapshots", "crawl_discovered_urls", "crawled_pages")
    return {name: crawler.rows(f"SELECT count(*) AS n FROM {name}")[0]["n"] for name in tables}


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("batch", [retention.BATCH, 7])
def test_only_what_is_older_than_it_is_kept_goes(
    crawler: Engine, site: Site, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", batch)
    first = crawler.crawl(site.url(), max_pages=1000)
    path = next(key for key in crawler.ends(first) if key != "/")
    site.edit(path, append="something quite new")
    crawler.again(first)
    third = crawler.again(first)
    before = counts(crawler)
    now = crawler.tools.clock()
    keep_all = Retention(request_log_days=1, keep_versions=0, keep_crawl_days=0)
    assert sum(Pruner(crawler.tools.database, keep_all)(now)) == 0
    later = now + timedelta(days=2)
    prune = Pruner(crawler.tools.database, EVERYTHING)
    would = prune(later, dry_run=True)
    assert counts(crawler) == before, "a dry run keeps everything"
    assert prune(later) == would
    assert would.requests == before["request_log"]
    assert (would.versions, would.snapshots) == (1, 1), "the edited page's old version"
    assert would.urls == first.total_discovered, "the oldest of three crawls"
    after = counts(crawler)
    assert after["crawled_pages"] == before["crawled_pages"]
    again = crawler.again(third)
    assert again.change_summary is not None
    assert again.change_summary["summary"]["unchanged_pages"] == again.pages_crawled


@pytest.mark.parametrize("since", ["single pages", pytest.param("cancelled crawls", marks=pytest.mark.slow)])
def test_the_crawl_that_the_next_one_is_compared_with_stays(crawler: Engine, site: Site, since: str) -> None:
    first = crawler.crawl(site.url(), max_pages=3)
    project = crawler.tools.store.get_project(first.project_id)
    for _ in range(2):
        if since == "single pages":
            crawler.run(crawler.start(project, urls=(site.url(),)))
        else:
            crawler.tools.crawls.control.cancel(crawler.start(project).id)
    site.edit("/", append="something quite new")
    Pruner(crawler.tools.database, EVERYTHING)(crawler.tools.clock() + timedelta(days=2))
    again = crawler.again(first)
    assert again.change_summary is not None
    assert again.change_summary["summary"]["changed_pages"] == 1


def test_no_number_of_single_pages_hides_the_crawl_to_compare_with(crawler: Engine, site: Site) -> None:
    first = crawler.crawl(site.url(), max_pages=3)
    project = crawler.tools.store.get_project(first.project_id)
    crawler.run(crawler.start(project, urls=(site.url(),)))
    again = crawler.start(project)
    assert [each.id for each in crawler.tools.store.earlier_crawls(again, limit=1)] == [first.id]


def test_a_crawl_that_writes_and_a_prune_do_not_wait_for_each_other(crawler: Engine) -> None:
    prune, now = Pruner(crawler.tools.database, EVERYTHING), crawler.tools.clock()
    known, new = (snapshot(body, "text/html", now) for body in (b"known", b"new"))
    write(crawler, [known])
    with transaction(crawler.tools.database) as connection, cursor(connection) as db:
        COPY.new(db, [known, new])  # as a commit of the engine does it, before the versions that need them
        ended = threading.Thread(target=prune, args=(now,), daemon=True)
        ended.start()
        ended.join(20)
        assert not ended.is_alive()
    assert counts(crawler)["snapshots"] == 2
    assert prune(now).snapshots == 2


def test_a_snapshot_that_is_wanted_while_it_is_deleted_is_written_anew(crawler: Engine) -> None:
    known = snapshot(b"known", "text/html", crawler.tools.clock())
    write(crawler, [known])
    with transaction(crawler.tools.database) as db:
        db.execute(text("DELETE FROM snapshots"))
        writer = threading.Thread(target=write, args=(crawler, [known]), daemon=True)
        writer.start()
        writer.join(0.2)
        assert writer.is_alive(), "it waits for what becomes of the row"
    writer.join(20)
    assert counts(crawler)["snapshots"] == 1


def write(crawler: Engine, rows: list[Snapshot]) -> None:
    with transaction(crawler.tools.database) as connection, cursor(connection) as db:
        COPY.new(db, rows)
