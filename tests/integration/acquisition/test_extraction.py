"""From fetched to done: each entry is extracted once, handed on once, and fails alone."""

from collections.abc import Iterator
from typing import Any

import pytest

from crawler.adapters.acquisition.extraction_store import ExtractionStore
from crawler.domain.acquisition.page_fields import PageFields, ProcessLost, StoredContent
from crawler.domain.acquisition.selectors import SelectorSet
from crawler.domain.crawls.project import ACQUISITION_ID
from crawler.domain.retries import MOST_LOSSES
from tests.integration.acquiring import HOTEL, Extraction, extracting, hotel
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site
from tests.unit.pages.pdfs import pdf_of


@pytest.fixture
def extraction(crawler: Engine) -> Iterator[Extraction]:
    with extracting(crawler) as found:
        yield found


def test_a_fetched_entry_ends_done_with_what_its_category_selects(extraction: Extraction, site: Site) -> None:
    extraction.define("hotel", HOTEL)
    lay(site, {"/a": hotel("Adler")})
    extraction.fetch(site.url("/a"), category="hotel")
    assert extraction() == (1, 0, 0)
    (entry,), (row,) = extraction.entries(), extraction.rows()
    assert (entry["status"], entry["extraction_id"], entry["claim_id"]) == ("done", row["id"], None)
    assert row["fields"] == {"name": "Adler", "price": "120 €"}
    assert row["extracted_text"].splitlines()[0] == "Adler"
    assert "Buy" not in row["extracted_text"]
    assert (row["language"], row["category"], row["queue_id"]) == ("en", "hotel", entry["id"])
    assert (row["page_id"], row["version_id"] is not None) == (entry["page_id"], True)
    (job,) = extraction.jobs()
    assert (job["extraction_id"], job["status"], job["sent_at"]) == (row["id"], "pending", None)
    assert extraction.is_whole()


def test_a_category_nobody_defined_is_read_by_the_default_extractor(extraction: Extraction, site: Site) -> None:
    lay(site, {"/a": hotel("Adler")})
    extraction.fetch(site.url("/a"), category="inn")
    extraction()
    (row,) = extraction.rows()
    assert row["category"] == "inn"
    assert row["fields"] == {"title": "Adler", "h1": "Adler", "description": None}


def test_unchanged_content_is_not_extracted_again(extraction: Extraction, site: Site) -> None:
    lay(site, {"/a": hotel("Adler"), "/b": hotel("Bear")})
    extraction.fetch(site.url("/a"), site.url("/b"), category="hotel")
    extraction()
    before = extraction.rows()
    lay(site, {"/b": hotel("Bear and Lion")})
    extraction.again()
    after = extraction.rows()
    assert [row["status"] for row in extraction.entries()] == ["done", "done"]
    assert [row for row in after if row in before] == before
    (new,) = [row for row in after if row not in before]
    assert "Bear and Lion" in new["extracted_text"]
    assert extraction.entries()[0]["extraction_id"] in {row["id"] for row in before}
    assert extraction.is_whole()


@pytest.mark.slow
def test_changed_selectors_extract_the_same_content_again(extraction: Extraction, site: Site) -> None:
    extraction.define("hotel", HOTEL)
    lay(site, {"/a": hotel("Adler")})
    extraction.fetch(site.url("/a"), category="hotel")
    extraction()
    extraction.define("hotel", {**HOTEL, "fields": {"name": "h1"}})
    extraction.again()
    assert [row["fields"] for row in extraction.rows()] == [{"name": "Adler", "price": "120 €"}, {"name": "Adler"}]
    assert len({row["revision"] for row in extraction.rows()}) == 2
    assert extraction.is_whole()
    extraction.define("hotel", HOTEL)
    extraction.again()
    assert len(extraction.rows()) == 2, "what the old selectors read of this content is there"
    assert extraction.entries()[0]["extraction_id"] == extraction.rows()[0]["id"]


def test_two_entries_that_lead_to_one_page_share_its_extraction(extraction: Extraction, site: Site) -> None:
    lay(site, {"/a": hotel("Adler")})
    site.set_fault("/moved", redirect="/a")
    extraction.fetch(site.url("/a"), site.url("/moved"), category="hotel")
    assert extraction() == (1, 1, 0)
    (row,) = extraction.rows()
    assert {entry["extraction_id"] for entry in extraction.entries()} == {row["id"]}


@pytest.mark.slow
def test_what_cannot_be_extracted_fails_with_its_reason_and_the_others_go_on(
    extraction: Extraction, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    extraction.define("slow", {"include": ["xpath://*[count(//*[count(//*[count(//*)>1])>1])>1]"]})
    extraction.define("strict", {"fields": {"phone": {"selector": ".phone", "required": True}}})
    extraction.define("vain", {"include": [".missing"], "fields": {"a": ".missing"}})
    monkeypatch.setattr(extraction.tools.acquisition.extractor, "_seconds", 1.0)
    lay(site, {"/slow": page(body="<i><b>x</b></i>" * 3000), "/vain": hotel("A"), "/strict": hotel("B")})
    lay(site, {"/empty": "<html><body></body></html>", "/good": hotel("Adler")})
    categories = {"/slow": "slow", "/strict": "strict", "/vain": "vain", "/empty": "", "/good": ""}
    for path, category in categories.items():
        extraction.queue.add(site.url(path), category=category)
    extraction.queue.work()
    for _ in categories:
        extraction()  # for ten seconds at a time, and at least one page
    found = {row["source_url"].removeprefix(site.url("")): row for row in extraction.entries()}
    assert {path: (row["status"], (row["last_error"] or "").split(":")[0]) for path, row in found.items()} == {
        "/slow": ("failed", "timeout"),
        "/strict": ("failed", "field_missing"),
        "/vain": ("failed", "no_text"),
        "/empty": ("failed", "no_text"),
        "/good": ("done", ""),
    }
    assert "phone" in found["/strict"]["last_error"]
    assert len(extraction.rows()) == 1
    assert extraction.is_whole()


def test_a_page_that_is_no_longer_stored_fails_alone(extraction: Extraction, site: Site) -> None:
    lay(site, {"/a": hotel("A"), "/b": hotel("B")})
    extraction.fetch(site.url("/a"), site.url("/b"))
    with extraction.tools.database.begin() as db:
        db.exec_driver_sql("DELETE FROM crawled_pages WHERE url LIKE '%%/a'")
    extraction()
    assert [row["status"] for row in extraction.entries()] == ["failed", "done"]
    assert extraction.entries()[0]["last_error"].startswith("gone: ")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["application/pdf", "text/html", "text/html; charset=utf-8"])
def test_the_text_of_a_pdf_is_extracted_whatever_its_server_calls_it(
    extraction: Extraction, site: Site, kind: str
) -> None:
    settings = {"render": "never", "delay_seconds": 0, "content_types": ["text/html", "application/pdf"]}
    extraction.tools.projects.manage.change(ACQUISITION_ID, {"settings": settings})
    words = "Rooms with a view of the quiet lake and the mountains behind it"
    for path, body in {"/a.pdf": pdf_of(words), "/broken.pdf": b"%PDF-1.4 nothing"}.items():
        site.set_fault(path, content_type=kind, body=body.decode("latin-1"))
    extraction.fetch(site.url("/a.pdf"), site.url("/broken.pdf"), category="brochure")
    extraction()
    good, broken = extraction.entries()
    assert (good["status"], broken["status"]) == ("done", "failed")
    assert broken["last_error"].startswith("parse: ")
    (row,) = extraction.rows()
    assert (row["extracted_text"], row["language"]) == (words, "en")


def test_one_hint_is_on_its_way_however_many_commits_there_are(extraction: Extraction, site: Site) -> None:
    lay(site, {"/a": (), "/b": (), "/c": ()})
    for path in ("/a", "/b"):
        extraction.fetch(site.url(path))
    hints = [("extract_entries", 1.0)]
    assert [what for what in extraction.queue.engine.sent if what[0] == "extract_entries"] == hints
    extraction.tools.frontier.task_begins("extract_entries")
    extraction.fetch(site.url("/c"))
    assert [what for what in extraction.queue.engine.sent if what[0] == "extract_entries"] == hints * 2


def test_entries_of_a_dead_worker_wait_again_and_are_extracted_once(extraction: Extraction, site: Site) -> None:
    lay(site, {"/a": hotel("A"), "/b": hotel("B")})
    extraction.fetch(site.url("/a"), site.url("/b"))
    store = ExtractionStore(extraction.tools.database)
    late, _ = store.claim(10)
    assert extraction() == (0, 0, 0), "they are somebody else's"
    assert store.requeue_lost(3600) == 0
    extraction.queue.engine.tools.database.dispose()
    assert store.requeue_lost(-1) == 2
    assert extraction() == (2, 0, 0)
    assert not store.fail(late, "late: too late"), "a late worker changes nothing"
    assert [row["status"] for row in extraction.entries()] == ["done", "done"]
    assert {row["rounds"] for row in extraction.entries()} == {0}
    assert extraction.is_whole()


def test_a_page_that_takes_three_workers_down_fails_and_its_neighbours_do_not(
    extraction: Extraction, site: Site
) -> None:
    lay(site, {f"/{name}": hotel(name) for name in ("a", "killer", "b", "c")})
    extraction.fetch(*(site.url(f"/{name}") for name in ("a", "killer", "b", "c")))
    asked: list[str] = []

    def dies(content: StoredContent, rules: SelectorSet) -> PageFields | ProcessLost | Any:
        asked.append(content.url)
        return (
            ProcessLost(9)
            if content.url.endswith("/killer")
            else extraction.tools.acquisition.extractor(content, rules)
        )

    extraction.tools.acquisition.extract_entries._extract = dies
    extraction()
    assert [row["status"] for row in extraction.entries()] == ["done", "failed", "done", "done"]
    assert extraction.entries()[1]["last_error"] == "poison: Three workers were lost while they extracted it."
    assert sum(url.endswith("/killer") for url in asked) == MOST_LOSSES


def test_entries_that_were_lost_once_are_claimed_alone(extraction: Extraction, site: Site) -> None:
    lay(site, {f"/{number}": hotel(str(number)) for number in range(4)})
    extraction.fetch(*(site.url(f"/{number}") for number in range(4)))
    store = ExtractionStore(extraction.tools.database)
    assert len(store.claim(10)) == 4
    store.requeue_lost(-1)
    assert [len(store.claim(10)) for _ in range(5)] == [1, 1, 1, 1, 0]


def test_a_worker_that_stops_gives_back_what_it_has_not_begun(extraction: Extraction, site: Site) -> None:
    lay(site, {f"/{number}": hotel(str(number)) for number in range(3)})
    extraction.fetch(*(site.url(f"/{number}") for number in range(3)))
    answers = iter([False, False, True, True, True])
    extraction.tools.frontier.task_begins("extract_entries")  # as its task does
    extraction.tools.acquisition.extract_entries(lambda: next(answers))
    states = [(row["status"], row["rounds"]) for row in extraction.entries()]
    assert states == [("done", 0), ("fetched", 0), ("fetched", 0)]
    assert ("extract_entries", 0) in extraction.queue.engine.sent


def test_the_coordinator_hints_at_what_waits(extraction: Extraction, site: Site) -> None:
    sent = extraction.queue.engine.sent
    extraction.tools.acquisition.extract_entries.recover()
    assert ("extract_entries", 0) not in sent
    lay(site, {"/a": hotel("A")})
    extraction.fetch(site.url("/a"))
    extraction.tools.acquisition.extract_entries.recover()
    assert ("extract_entries", 0) in sent


def test_another_pdf_at_the_same_url_is_other_content(extraction: Extraction, site: Site) -> None:
    settings = {"render": "auto", "delay_seconds": 0, "content_types": ["text/html", "application/pdf"]}
    extraction.tools.projects.manage.change(ACQUISITION_ID, {"settings": settings})
    for words in ("The first brochure of this house", "The second brochure of this house"):
        site.mend()
        site.set_fault("/a.pdf", content_type="application/pdf", body=pdf_of(words).decode("latin-1"))
        if extraction.entries():
            extraction.again()
        else:
            extraction.fetch(site.url("/a.pdf"))
            extraction()
    assert [row["extracted_text"].split()[1] for row in extraction.rows()] == ["first", "second"]
    (page_row,) = extraction.queue.engine.rows("SELECT title, content_text, links_found FROM crawled_pages")
    assert page_row == {"title": None, "content_text": "", "links_found": []}, "bytes are no text"
