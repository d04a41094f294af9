"""The queue and documents without a browser: what very many, wrong forms and rare states are answered with."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient

from crawler.adapters.acquisition import queue_store
from crawler.domain.acquisition.entries import QueueFilter
from crawler.domain.acquisition.selectors import read_selectors
from crawler.domain.api_keys import Scope
from crawler.domain.documents.searching import SearchAnswer, SearchHit, SnippetPart
from crawler.entrypoints.dashboard.pages import queue as queue_room
from tests.integration.dashboard.test_security import Visitor, secret
from tests.integration.live_engine import Engine
from tests.integration.shared_app import shared_app


@pytest.fixture
def client(crawler: Engine) -> Iterator[TestClient]:
    with TestClient(shared_app(crawler.tools), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def visitor(client: TestClient, crawler: Engine) -> Visitor:
    return Visitor(client, secret(crawler, Scope.WRITE))


def hidden(text: str) -> dict[str, str]:
    return dict(
        re.findall(
            r'<input type="hidden" name="(\w+)" value="([^"]*)"',
            text.partition('action="/queue/bulk"')[2].partition("</form>")[0],
        )
    )


def active(crawler: Engine) -> list[bool]:
    return [entry.is_active for entry in crawler.tools.acquisition.queue.list_entries(QueueFilter(), limit=100)]


def test_very_many_are_changed_in_parts_and_none_is_left_out(
    crawler: Engine, visitor: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue_store, "CHANGED_AT_ONCE", 2)
    monkeypatch.setattr(queue_room, "BULK_SECONDS", -1)
    crawler.tools.acquisition.fill_queue.add([f"http://many.example/{n}" for n in range(5)])
    answer = visitor.post("/queue/bulk", {"action": "deactivate", "all": "on"})
    assert "Switch 5 entries off?" in answer.text
    assert all(active(crawler)), "asked first"
    said = []
    while answer.status_code == 200:
        answer = visitor.post("/queue/bulk", hidden(answer.text))
        said += re.findall(r"(\d) entries are done", answer.text)
    assert said == ["2", "4", "5"]
    assert answer.headers["location"] == "/queue?said=entries-deactivate&n=5"
    assert not any(active(crawler))
    assert "Switched 5 entries off" in visitor.get(answer.headers["location"]).text


@pytest.mark.parametrize(
    "fields",
    [
        {"action": "explode", "id": "1"},
        {"action": "delete", "id": "1; DROP TABLE crawl_queue"},
        {"action": "delete", "id": "9" * 30},
        {"id": "1"},
    ],
)
def test_a_wrong_order_changes_nothing_and_is_told(crawler: Engine, visitor: Visitor, fields: dict[str, str]) -> None:
    crawler.tools.acquisition.fill_queue.add(["http://a.example/"])
    assert visitor.post("/queue/bulk", {**fields, "confirmed": "on"}).status_code == 422
    assert active(crawler) == [True]


def test_without_a_tick_nothing_happens_and_the_filter_stays(crawler: Engine, visitor: Visitor) -> None:
    crawler.tools.acquisition.fill_queue.add(["http://a.example/"])
    answer = visitor.post("/queue/bulk", {"action": "delete", "confirmed": "on", "category": "hotel"})
    assert answer.headers["location"] == "/queue?said=entries-none&category=hotel"
    assert active(crawler) == [True]


def test_a_retry_of_all_that_match_means_those_that_failed(crawler: Engine, visitor: Visitor) -> None:
    crawler.tools.acquisition.fill_queue.add([f"http://a.example/{n}" for n in range(4)], category="hotel")
    crawler.rows("UPDATE crawl_queue SET status = 'done' WHERE source_url ~ '[012]$' RETURNING id")
    crawler.rows("UPDATE crawl_queue SET status = 'failed' WHERE source_url ~ '3$' RETURNING id")
    asked = visitor.post("/queue/bulk", {"action": "retry", "all": "on", "category": "hotel"})
    assert "Fetch 1 entry again?" in asked.text
    assert "What went well stays as it is" in asked.text
    visitor.post("/queue/bulk", hidden(asked.text))
    assert crawler.tools.acquisition.queue.counts() == {
        "pending": 1, "fetching": 0, "fetched": 0, "extracting": 0, "done": 3, "failed": 0,
    }  # fmt: skip


def test_one_entry_that_is_changed_from_its_page_is_shown_again(crawler: Engine, visitor: Visitor) -> None:
    crawler.tools.acquisition.fill_queue.add(["http://a.example/"])
    [entry] = crawler.tools.acquisition.queue.list_entries(QueueFilter())
    answer = visitor.post("/queue/bulk", {"action": "deactivate", "id": str(entry.id), "entry": "on"})
    assert answer.headers["location"] == f"/queue/{entry.id}?said=entries-deactivate&n=1"
    page = visitor.get(answer.headers["location"]).text
    assert "Switched 1 entry off" in page
    assert "It is switched off" in page
    assert visitor.get("/queue/999999").status_code == 404


def test_a_field_that_dropped_is_told_where_categories_are(crawler: Engine, visitor: Visitor) -> None:
    tools = crawler.tools
    tools.acquisition.categories.put("hotel", read_selectors({"fields": {"name": "h1", "price": ".price"}}))
    crawler.rows("INSERT INTO extraction_counts (category, extractions) VALUES ('hotel', 250) RETURNING 1")
    for number in range(5):
        for field, filled in (("name", 50), ("price", 45 if number < 4 else 10)):
            crawler.rows(
                "INSERT INTO field_fills (category, field, number, filled, total) VALUES ('hotel', :f, :n, :v, 50)"
                " RETURNING 1", f=field, n=number, v=filled,
            )  # fmt: skip
    for path in ("/queue/categories", "/queue/category?name=hotel"):
        text = visitor.get(path).text
        assert "1 field dropped" in text, path
        assert "usually 90 %" in text, path
        assert "20 %" in text, path


@pytest.mark.slow
def test_a_category_is_made_once_and_its_name_is_checked(crawler: Engine, visitor: Visitor) -> None:
    fields = {"name": "hotel", "include": "main"}
    assert (
        visitor.post("/queue/category", fields).headers["location"] == "/queue/category?said=category-saved&name=hotel"
    )
    again = visitor.post("/queue/category", {**fields, "include": "body"})
    assert again.status_code == 422
    assert "already" in again.text
    assert crawler.tools.acquisition.categories.get("hotel").selectors.include[0].selector == "main"
    for name in ("", "a/b", "x" * 65, "a\tb"):
        assert visitor.post("/queue/category", {"name": name}).status_code == 422, name
    assert visitor.post("/queue/category/delete", {"name": "none"}).status_code == 404
    unknown = visitor.post("/queue/category/try", {"url": "http://nowhere.example/"}, **{"HX-Request": "true"})
    assert "Nothing is stored under this URL" in unknown.text
    assert "<html" not in unknown.text


def test_looking_changes_nothing_of_the_queue(crawler: Engine, visitor: Visitor) -> None:
    crawler.tools.acquisition.fill_queue.add(["http://a.example/"], category="hotel")

    def state() -> list[Any]:
        return [crawler.rows(f"SELECT * FROM {table}") for table in ("crawl_queue", "categories", "documents")]

    before = state()
    [entry] = crawler.tools.acquisition.queue.list_entries(QueueFilter())
    for path in ("/queue", f"/queue/{entry.id}", "/queue/counts", "/queue/category?name=hotel&url=http://a.example/"):
        assert visitor.get(path).status_code == 200, path
    assert visitor.get("/queue?cursor=nonsense").status_code == 422
    assert state() == before


def test_search_says_when_meaning_had_a_say_and_when_it_could_not(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project("http://a.example/")
    hit = SearchHit(
        chunk_id=uuid4(), document_id=uuid4(), url="javascript:alert(1)", title="<b>", language="en", position=0,
        headings=("A", "<i>"), content="x", score=1.0,
        snippet=(SnippetPart(text="<u>", match=True), SnippetPart(text=" & more", match=False)),
    )  # fmt: skip
    answers = {
        "near": SearchAnswer([hit], "hybrid", None),
        "far": SearchAnswer([hit], "text", "The service is <down>."),
    }
    crawler.tools.documents.search = lambda _, words, **__: answers[words]  # type: ignore[assignment]
    near = visitor.get(f"/projects/{project.id}/search?q=near").text
    assert "by words and by meaning" in near
    assert "<mark>&lt;u&gt;</mark> &amp; more" in near
    assert 'href="javascript' not in near
    assert "By words only: The service is &lt;down&gt;." in visitor.get(f"/projects/{project.id}/search?q=far").text
