"""Pages of a crawl that ingests become documents: exactly those, once each, whatever dies on the way."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from crawler.adapters.documents import chunk_search
from crawler.adapters.documents.store import DocumentStore
from crawler.domain.acquisition.page_fields import ProcessLost
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.retries import MOST_LOSSES
from crawler.errors import SearchTooSlow
from crawler.handlers.documents.ingest_documents import AT_ONCE
from tests.integration.handmade import asked, lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site
from tests.unit.pages.pdfs import pdf_of

SITE = {
    "/": page("/a", "/b", title="Home", body="<h1>Home</h1><p>Bread and butter.</p>"),
    "/a": page("/c", title="About", body="<h1>About</h1><p>We bake rye bread in Lisbon.</p><h2>People</h2><p>Ana.</p>"),
    "/b": page(title="Hidden", head='<meta name="robots" content="noindex">', body="<p>Not for indexes.</p>"),
    "/c": page(title="Contact", body="<h1>Contact</h1><p>Write to the bakery.</p>"),
}


def ingest(crawler: Engine, site: Site, **config: Any) -> CrawlJob:
    lay(site, SITE)
    return crawler.crawl(site.url(), ingest=True, **config)


def documents(crawler: Engine, crawl: CrawlJob) -> dict[str, dict[str, Any]]:
    rows = crawler.rows("SELECT * FROM documents WHERE project_id = :id", id=crawl.project_id)
    return {"/" + row["normalized_url"].split("/", 3)[3]: row for row in rows}


def chunks(crawler: Engine, crawl: CrawlJob, path: str) -> list[dict[str, Any]]:
    found = documents(crawler, crawl)[path]["id"]
    return crawler.rows("SELECT * FROM document_chunks WHERE document_id = :id ORDER BY position", id=found)


def statuses(crawler: Engine, crawl: CrawlJob) -> dict[str, str]:
    return {path: row["status"] for path, row in crawler.paths(crawl).items()}


def fresh(crawler: Engine, crawl: CrawlJob) -> CrawlJob:
    return crawler.tools.store.get_crawl(crawl.id)


def test_a_stored_page_is_a_pending_document_and_is_counted_when_it_is_made(crawler: Engine, site: Site) -> None:
    crawl = ingest(crawler, site)

    assert (crawl.pages_crawled, crawl.total_ingested) == (4, 0)
    assert statuses(crawler, crawl) == {"/": "pending", "/a": "pending", "/b": "skipped", "/c": "pending"}
    assert {path: row["status"] for path, row in documents(crawler, crawl).items()} == {
        "/": "pending", "/a": "pending", "/c": "pending",
    }  # fmt: skip
    assert ("ingest_documents", None) in crawler.sent

    assert crawler.tools.documents.ingest() == 3

    assert fresh(crawler, crawl).total_ingested == 3
    assert statuses(crawler, crawl) == {"/": "ingested", "/a": "ingested", "/b": "skipped", "/c": "ingested"}
    made = documents(crawler, crawl)
    for path, row in crawler.paths(crawl).items():
        assert row["document_id"] == (made[path]["id"] if path != "/b" else None)
    assert [(c["headings"], c["content"]) for c in chunks(crawler, crawl, "/a")] == [
        (["About"], "We bake rye bread in Lisbon."), (["About", "People"], "Ana.\n\nto /c"),
    ]  # fmt: skip
    assert made["/a"]["chunk_count"] == 2
    assert crawler.rows("SELECT * FROM document_waits") == []


def test_a_crawl_without_ingest_makes_no_documents(crawler: Engine, site: Site) -> None:
    lay(site, SITE)
    crawl = crawler.crawl(site.url())
    assert documents(crawler, crawl) == {}
    assert (crawl.pages_crawled, crawl.total_ingested) == (4, 4)
    assert set(statuses(crawler, crawl).values()) == {"ingested"}
    assert ("ingest_documents", None) not in crawler.sent


@pytest.mark.slow
def test_an_unchanged_page_that_is_a_document_is_ingested_at_once(crawler: Engine, site: Site) -> None:
    first = ingest(crawler, site)
    crawler.tools.documents.ingest()
    before = documents(crawler, first)

    second = crawler.again(first)

    assert second.total_ingested == 3
    assert crawler.tools.documents.ingest() == 0
    assert documents(crawler, first) == before | {
        path: before[path] | {"updated_at": row["updated_at"]} for path, row in documents(crawler, first).items()
    }


@pytest.mark.slow
def test_pages_of_an_earlier_crawl_without_ingest_become_documents(crawler: Engine, site: Site) -> None:
    lay(site, SITE)
    first = crawler.crawl(site.url())
    second = crawler.run(crawler.start(crawler.tools.store.get_project(first.project_id), config={"ingest": True}))
    assert second.total_ingested == 0
    assert crawler.tools.documents.ingest() == 3
    assert fresh(crawler, second).total_ingested == 3


@pytest.mark.slow
def test_a_changed_page_keeps_the_chunks_that_did_not_change(crawler: Engine, site: Site) -> None:
    first = ingest(crawler, site)
    crawler.tools.documents.ingest()
    old = {c["content"]: c for c in chunks(crawler, first, "/a")}
    with crawler.tools.database.begin() as db:
        db.exec_driver_sql("UPDATE document_chunks SET embedding = '{1,2,3}', embedded_with = 'twin'")
    site.edit("/a", html=SITE["/a"].replace("Lisbon", "Porto"))

    second = crawler.again(first)
    assert second.total_ingested == 2
    assert crawler.tools.documents.ingest() == 1

    new = chunks(crawler, first, "/a")
    assert [c["content"] for c in new] == ["We bake rye bread in Porto.", "Ana.\n\nto /c"]
    assert new[1] == old["Ana.\n\nto /c"] | {"embedding": [1, 2, 3], "embedded_with": "twin"}
    assert new[0]["embedding"] is None
    assert fresh(crawler, second).total_ingested == 3


@pytest.mark.slow
def test_what_was_made_of_a_version_that_is_not_due_any_more_is_thrown_away(crawler: Engine, site: Site) -> None:
    first = ingest(crawler, site)
    store: DocumentStore = crawler.tools.documents.store
    slow = store.claim(10, 60)
    site.edit("/a", html=SITE["/a"].replace("Lisbon", "Porto"))
    crawler.again(first)

    made = [crawler.tools.documents.ingest._document(source) for source in slow]
    assert store.keep(made, [], [], embed=False) == 2  # type: ignore[arg-type]
    assert documents(crawler, first)["/a"]["status"] == "pending"

    assert crawler.tools.documents.ingest() == 1
    assert "Porto" in chunks(crawler, first, "/a")[0]["content"]


def test_keeping_a_document_twice_changes_and_counts_nothing(crawler: Engine, site: Site) -> None:
    crawl = ingest(crawler, site)
    store = crawler.tools.documents.store
    sources = store.claim(10, 60)
    made = [crawler.tools.documents.ingest._document(source) for source in sources]
    assert store.keep(made, [], [], embed=False) == 3  # type: ignore[arg-type]
    assert store.keep(made, [], [], embed=False) == 0  # type: ignore[arg-type]
    assert fresh(crawler, crawl).total_ingested == 3


def test_a_document_whose_worker_died_is_made_by_the_next_when_its_claim_is_over(crawler: Engine, site: Site) -> None:
    ingest(crawler, site)
    store = crawler.tools.documents.store
    assert len(store.claim(2, lease_seconds=60)) == 2
    assert len(store.claim(2, lease_seconds=0)) == 1
    assert crawler.tools.documents.ingest() == 1
    with crawler.tools.database.begin() as db:
        db.exec_driver_sql(
            "UPDATE documents SET claimed_until = now() - interval '1 s' WHERE claimed_until IS NOT NULL"
        )
    assert [len(store.claim(10, lease_seconds=0)) for _ in range(2)] == [1, 1], "lost ones one at a time"
    assert crawler.tools.documents.ingest() == 2


def test_a_document_that_took_three_workers_down_is_failed(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page(title="Poison", body="<p>Text.</p>")})
    crawl = crawler.crawl(site.url(), ingest=True)
    for _ in range(MOST_LOSSES):
        assert len(crawler.tools.documents.store.claim(10, lease_seconds=0)) == 1
    crawler.tools.documents.ingest()
    row = documents(crawler, crawl)["/"]
    assert row["status"] == "failed"
    assert "workers were lost" in row["error_message"]
    ledger = crawler.paths(crawl)["/"]
    assert (ledger["status"], ledger["fetch_state"]) == ("failed", "done")
    assert ledger["error_message"] == row["error_message"]
    assert fresh(crawler, crawl).total_ingested == 0


def test_a_page_without_text_is_a_document_without_chunks(crawler: Engine, site: Site) -> None:
    lay(site, {"/": "<html><head><title>T</title></head><body><img src=/x.png></body></html>"})
    crawl = crawler.crawl(site.url(), ingest=True)
    crawler.tools.documents.ingest()
    row = documents(crawler, crawl)["/"]
    assert (row["status"], row["chunk_count"]) == ("ingested", 0)
    assert fresh(crawler, crawl).total_ingested == 1


def test_one_document_can_be_asked_for_by_its_id(crawler: Engine, site: Site) -> None:
    crawl = ingest(crawler, site)
    wanted = documents(crawler, crawl)["/c"]["id"]
    assert crawler.tools.documents.ingest.one(wanted) == 1
    assert crawler.tools.documents.ingest.one(wanted) == 0
    assert {path: row["status"] for path, row in documents(crawler, crawl).items() if row["status"] != "pending"} == {
        "/c": "ingested"
    }


def test_a_removed_page_leaves_a_tombstone_and_comes_back_as_a_document(crawler: Engine, site: Site) -> None:
    first = ingest(crawler, site)
    crawler.tools.documents.ingest()
    site.edit("/a", html=SITE["/a"].replace('href="/c"', 'href="/a"'))
    site.remove("/c", status=404)
    crawler.again(first)
    crawler.tools.documents.ingest()

    gone = documents(crawler, first)["/c"]
    assert gone["deleted_at"] is not None
    assert gone["chunk_count"] == 0
    assert chunks(crawler, first, "/c") == []

    lay(site, SITE)
    third = crawler.again(first)
    crawler.tools.documents.ingest()
    back = documents(crawler, first)["/c"]
    assert (back["id"], back["deleted_at"], back["status"]) == (gone["id"], None, "ingested")
    assert back["feed_seq"] > gone["feed_seq"]
    assert len(chunks(crawler, first, "/c")) == 1
    assert fresh(crawler, third).total_ingested == 3


@pytest.mark.slow
def test_a_page_that_came_back_and_went_again_before_its_document_was_made_stays_a_tombstone(
    crawler: Engine, site: Site
) -> None:
    first = ingest(crawler, site)
    crawler.tools.documents.ingest()

    def crawl_without_it() -> None:
        site.edit("/a", html=SITE["/a"].replace('href="/c"', 'href="/a"'))
        site.remove("/c", status=404)
        crawler.again(first)

    crawl_without_it()
    crawler.tools.documents.ingest()
    since = documents(crawler, first)["/c"]["deleted_at"]
    lay(site, SITE)
    back = crawler.again(first)
    assert documents(crawler, first)["/c"]["status"] == "pending"
    crawl_without_it()

    crawler.tools.documents.ingest()

    gone = documents(crawler, first)["/c"]
    assert (gone["status"], gone["deleted_at"], gone["chunk_count"]) == ("ingested", since, 0)
    assert chunks(crawler, first, "/c") == []
    assert statuses(crawler, back)["/c"] == "skipped", "nothing waits for it any more"


@pytest.mark.slow
def test_a_page_that_moved_is_a_document_at_its_new_address_alone(crawler: Engine, site: Site) -> None:
    first = ingest(crawler, site)
    crawler.tools.documents.ingest()
    site.remove("/c", status=410)
    lay(site, {"/a": SITE["/a"].replace('"/c"', '"/moved"').replace("to /c", "to /moved"), "/moved": SITE["/c"]})
    second = crawler.again(first)
    crawler.tools.documents.ingest()
    assert second.change_summary is not None
    assert second.change_summary["summary"]["removed_pages"] == 0
    assert {path: row["deleted_at"] is None for path, row in documents(crawler, first).items()} == {
        "/": True, "/a": True, "/c": False, "/moved": True,
    }  # fmt: skip


def test_a_late_comparison_takes_no_document_out_whose_page_is_back(crawler: Engine, site: Site) -> None:
    first = ingest(crawler, site)
    crawler.tools.documents.ingest()
    (url,) = [r["normalized_url"] for r in crawler.rows("SELECT * FROM documents WHERE url LIKE '%/c'")]
    before = first.started_at
    assert before is not None
    assert crawler.tools.documents.store.remove(first.project_id, [url], before) == 0
    assert crawler.tools.documents.store.remove(first.project_id, [url], before + timedelta(hours=1)) == 1
    assert crawler.tools.documents.store.remove(first.project_id, [url], before + timedelta(hours=1)) == 0


@pytest.mark.slow
def test_a_page_that_asks_not_to_be_indexed_any_more_is_taken_out(crawler: Engine, site: Site) -> None:
    first = ingest(crawler, site)
    crawler.tools.documents.ingest()
    site.edit("/c", html=SITE["/c"].replace("<head>", '<head><meta name="robots" content="noindex">'))
    second = crawler.again(first)
    crawler.tools.documents.ingest()
    row = documents(crawler, first)["/c"]
    assert row["deleted_at"] is not None
    assert chunks(crawler, first, "/c") == []
    assert statuses(crawler, second)["/c"] == "skipped"
    assert fresh(crawler, second).total_ingested == 2


@pytest.mark.slow
def test_urls_that_have_a_document_are_not_fetched_again_but_what_they_link_to_is(crawler: Engine, site: Site) -> None:
    first = ingest(crawler, site)
    crawler.tools.documents.ingest()
    lay(site, {"/c": page("/new", title="Contact"), "/new": page(title="New", body="<p>New.</p>")})
    asked_before = len(asked(site))

    project = crawler.tools.store.get_project(first.project_id)
    second = crawler.run(crawler.start(project, config={"ingest": True, "refresh": False}))

    assert asked(site)[asked_before:] == ["/b"], "noindex: it has no document"
    assert {path: row["reason"] for path, row in crawler.paths(second).items()} == {
        "/": "exists", "/a": "exists", "/b": "unchanged", "/c": "exists",
    }  # fmt: skip
    made = documents(crawler, first)
    assert {path: row["document_id"] for path, row in crawler.paths(second).items() if path != "/b"} == {
        path: made[path]["id"] for path in ("/", "/a", "/c")
    }
    assert second.status.value == "completed"
    assert (second.total_ingested, second.pages_skipped) == (0, 3)

    third = crawler.run(crawler.start(project, config={"ingest": True, "refresh": True}))
    crawler.tools.documents.ingest()
    assert fresh(crawler, third).total_ingested == 4
    assert set(statuses(crawler, third)) == {"/", "/a", "/b", "/c", "/new"}


def test_to_leave_out_what_has_a_document_is_no_setting_of_the_project(crawler: Engine, site: Site) -> None:
    lay(site, SITE)
    project = crawler.project(site.url(), delay_seconds=0)
    crawl = crawler.run(crawler.start(project, config={"ingest": True, "refresh": False}))
    assert crawl.config.refresh is False
    kept = crawler.tools.store.get_project(project.id).settings
    assert (kept.ingest, kept.refresh) == (True, True)


@pytest.mark.slow
@pytest.mark.parametrize("content_type", ["text/plain", "text/plain; charset=utf-8"])
def test_plain_text_is_a_document_too(crawler: Engine, site: Site, content_type: str) -> None:
    lay(site, {"/": page("/t.txt", title="Home")})
    site.set_fault("/t.txt", body="# not markdown of ours\nJust text.", content_type=content_type)
    crawl = crawler.crawl(site.url(), ingest=True, content_types=("text/html", "text/plain"))
    crawler.tools.documents.ingest()
    assert "Just text." in chunks(crawler, crawl, "/t.txt")[0]["content"]


def test_a_pdf_is_a_document_of_its_words_where_the_project_takes_pdfs(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page("/menu.pdf", "/broken.pdf", title="Home", body="<p>Bread.</p>")})
    for path, body in {"/menu.pdf": pdf_of("Rye bread and olives"), "/broken.pdf": b"%PDF-1.4 nothing"}.items():
        site.set_fault(path, content_type="application/pdf", body=body.decode("latin-1"))
    crawl = crawler.crawl(site.url(), ingest=True, content_types=["text/html", "application/pdf"])

    crawler.tools.documents.ingest()

    assert [chunk["content"] for chunk in chunks(crawler, crawl, "/menu.pdf")] == ["Rye bread and olives"]
    broken = documents(crawler, crawl)["/broken.pdf"]
    assert (broken["status"], broken["error_message"].partition(":")[0]) == ("failed", "parse")
    assert statuses(crawler, crawl) == {"/": "ingested", "/menu.pdf": "ingested", "/broken.pdf": "failed"}


def test_a_pdf_whose_reader_was_killed_waits_and_is_made_by_the_next(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page("/menu.pdf", title="Home", body="<p>Bread.</p>")})
    site.set_fault("/menu.pdf", content_type="application/pdf", body=pdf_of("Rye bread").decode("latin-1"))
    crawl = crawler.crawl(site.url(), ingest=True, content_types=["text/html", "application/pdf"])
    read = crawler.tools.documents.ingest._read_file
    crawler.tools.documents.ingest._read_file = lambda *_: ProcessLost(9)
    crawler.tools.documents.ingest()
    assert statuses(crawler, crawl) == {"/": "ingested", "/menu.pdf": "pending"}

    crawler.tools.documents.ingest._read_file = read
    crawler.rows("UPDATE documents SET claimed_until = now() - interval '1 s' RETURNING id")
    crawler.tools.documents.ingest()
    assert statuses(crawler, crawl) == {"/": "ingested", "/menu.pdf": "ingested"}


def test_a_worker_that_has_to_stop_leaves_the_rest_to_another(crawler: Engine, site: Site) -> None:
    paths = [f"/{n}" for n in range(AT_ONCE + 1)]
    lay(site, {"/": paths, **dict.fromkeys(paths, ())})
    crawler.crawl(site.url(), ingest=True)
    crawler.sent.clear()
    crawler.tools.frontier.task_begins("ingest_documents")  # as its task does
    assert crawler.tools.documents.ingest(lambda: True) == AT_ONCE
    assert crawler.sent == [("ingest_documents", None)]
    crawler.sent.clear()
    crawler.tools.documents.ingest.recover()
    assert crawler.sent == [("ingest_documents", None)], "that hint may be lost as well"
    assert crawler.tools.documents.ingest() == 2
    crawler.sent.clear()
    crawler.tools.documents.ingest.recover()
    assert crawler.sent == []


CLOSED = page("/", title="Closed", head='<meta name="robots" content="{}">', body="<p>Painting. Come back. Run {}.</p>")


def said(crawler: Engine, crawl: CrawlJob, path: str) -> list[tuple[list[str], str]]:
    return [(chunk["headings"], chunk["content"]) for chunk in chunks(crawler, crawl, path)]


@pytest.mark.slow
@pytest.mark.parametrize(("robots", "early"), [("all", False), ("all", True), ("noindex", True)])
def test_a_wall_is_not_what_a_document_says(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch, robots: str, early: bool
) -> None:
    """Neither when it comes, nor while it stands and says something else each time. What is new behind it is.

    `early`: documents are made before anybody has compared the crawl.
    """
    crawl = ingest(crawler, site)
    crawler.tools.documents.ingest()
    compare = crawler.tools.changes.diff_crawl

    def compare_late(crawl_id: UUID) -> CrawlJob:
        crawler.tools.documents.ingest()
        return compare(crawl_id)

    if early:
        monkeypatch.setattr(crawler.tools.changes, "diff_crawl", compare_late)
    before = {path: said(crawler, crawl, path) for path in ("/", "/a", "/c")}
    for run in range(2):
        lay(site, dict.fromkeys(SITE, CLOSED.format(robots, run)))
        crawl = crawler.again(crawl)
        assert (crawl.change_summary or {})["coverage"]["failing"]
        crawler.tools.documents.ingest()
        assert {path: said(crawler, crawl, path) for path in before} == before, f"run {run}"
        assert [row for row in documents(crawler, crawl).values() if row["status"] == "pending"] == []
        assert all(row["deleted_at"] for path, row in documents(crawler, crawl).items() if path == "/b")
    lay(site, SITE | {"/a": page("/c", title="About", body="<h1>About</h1><p>We bake white bread in Porto.</p>")})
    crawl = crawler.again(crawl)
    crawler.tools.documents.ingest()
    after = {path: said(crawler, crawl, path) for path in before}
    assert after == {**before, "/a": [(["About"], "We bake white bread in Porto.\n\nto /c")]}
    alive = [path for path, row in documents(crawler, crawl).items() if not row["deleted_at"]]
    assert sorted(alive) == ["/", "/a", "/c"], "not what was never one"


def test_a_search_that_takes_too_long_ends_and_says_what_to_do(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(site, {"/": page(title="Rye", body="<p>Rye bread.</p>")})
    crawl = crawler.crawl(site.url(), ingest=True)
    crawler.tools.documents.ingest()
    monkeypatch.setattr(chunk_search, "LONGEST_SECONDS", 0.2)
    monkeypatch.setattr(chunk_search, "_RANKED", f"SELECT pg_sleep(20) FROM ({chunk_search._RANKED}) AS ranked")
    with pytest.raises(SearchTooSlow, match="fewer or rarer words"):
        crawler.tools.documents.search(crawl.project_id, "rye", limit=5)
