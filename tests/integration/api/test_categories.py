"""Categories over HTTP: defined, refused with a sentence, tried on stored pages, watched, deleted."""

import csv
import io
import json
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest

from crawler.domain.acquisition.page_fields import ExtractionFailed
from crawler.domain.api_keys import Scope
from tests.integration.acquiring import HOTEL, Extraction, extracting, hotel
from tests.integration.api.conftest import Service
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.site.client import Site


def put(service: Service, name: str, selectors: Any) -> Any:
    return service("PUT", f"/categories/{quote(name, safe='')}", json=selectors)


def test_a_category_is_defined_shown_changed_and_deleted(service: Service) -> None:
    answer = put(service, "hotel", HOTEL)
    assert answer.status_code == 200, answer.text
    made = answer.json()
    assert made["defined"]
    assert made["selectors"]["fields"]["name"] == {
        "selector": "h1", "kind": "css", "attribute": None, "many": False, "required": False,
    }  # fmt: skip
    assert service.get("/categories/hotel") == made
    assert [category["name"] for category in service.get("/categories")["categories"]] == ["hotel"]
    changed = put(service, "hotel", made["selectors"] | {"exclude": []}).json()
    assert changed["revision"] != made["revision"]
    assert put(service, "hotel", HOTEL).json()["revision"] == made["revision"]
    assert service("DELETE", "/categories/hotel").status_code == 204
    assert service("DELETE", "/categories/hotel").json()["code"] == "not_found"
    assert service("GET", "/categories/hotel").status_code == 404


def test_a_wrong_selector_is_refused_with_a_sentence_that_shows_where(service: Service) -> None:
    answer = put(service, "hotel", {"fields": {"price": "b:foo"}})
    assert answer.status_code == 422
    told = answer.json()
    assert told["code"] == "invalid_selector"
    assert "fields.price: the CSS is wrong at character 2 (b→:foo)" in told["detail"]
    assert put(service, "hotel", {"fields": {"price": {"selector": "b", "kind": "regex"}}}).status_code == 422
    assert put(service, "hotel", {"includes": ["b"]}).status_code == 422
    assert service("GET", "/categories/hotel").status_code == 404


@pytest.mark.slow
def test_selectors_that_never_end_are_refused(service: Service, crawler: Engine) -> None:
    crawler.tools.acquisition.manage_categories._trial_seconds = 1.0
    told = put(service, "hotel", {"include": ["xpath://*[count(//*[count(//*[count(//*)>1])>1])>1]"]}).json()
    assert told["code"] == "invalid_selector"
    assert "take more than 1 s" in told["detail"]


@pytest.mark.parametrize("name", ["", " ", "a/b", "a\nb", "x" * 65])
def test_a_name_that_no_entry_could_have_is_refused(service: Service, name: str) -> None:
    assert put(service, name or " ", HOTEL).status_code in (404, 405, 422)


def test_a_name_of_any_language_is_taken(service: Service) -> None:
    assert put(service, "Gasthöfe & Bars?", HOTEL).json()["name"] == "Gasthöfe & Bars?"
    assert service("GET", f"/categories/{quote('Gasthöfe & Bars?')}").status_code == 200


@pytest.fixture
def extraction(crawler: Engine, site: Site) -> Any:
    with extracting(crawler) as found:
        lay(site, {"/a": hotel("Adler"), "/b": hotel("=HYPERLINK(1)", price=""), "/c": hotel("Bear")})
        yield found


@pytest.mark.slow
def test_selectors_are_tried_on_a_stored_page_by_id_by_url_and_by_entry(
    service: Service, extraction: Extraction, site: Site
) -> None:
    extraction.fetch(site.url("/a"), category="hotel")
    (entry,) = extraction.entries()
    put(service, "hotel", HOTEL)
    orders: list[dict[str, Any]] = [
        {"page_id": str(entry["page_id"])}, {"url": site.url("/a")}, {"queue_id": entry["id"]},
    ]  # fmt: skip
    for order in orders:
        told = service("POST", "/categories/hotel/try", json=order).json()
        assert told["fields"] == {"name": "Adler", "price": "120 €"}, told
        assert told["text"].startswith("Adler")
        assert told["problem"] is None
    unsaved = {"selectors": {"fields": {"none": {"selector": ".none", "required": True}}}, **orders[0]}
    told = service("POST", "/categories/other/try", json=unsaved).json()
    assert told["problem"].startswith("field_missing")
    assert told["matches"] == {"fields.none": 0}
    assert service("GET", "/categories/other").status_code == 404, "nothing is kept"
    assert extraction.rows() == []
    bad = {"selectors": {"fields": {"a": "b["}}, **orders[0]}
    assert service("POST", "/categories/other/try", json=bad).json()["code"] == "invalid_selector"
    for order in ({}, {"url": "http://a/", "queue_id": 1}):
        assert service("POST", "/categories/hotel/try", json=order).status_code == 422
    for order in ({"page_id": str(uuid4())}, {"url": "http://never.example/"}, {"queue_id": 999_999}):
        assert service("POST", "/categories/hotel/try", json=order).status_code == 404, order


def test_a_page_of_any_project_is_found_by_its_url(service: Service, crawler: Engine, site: Site) -> None:
    lay(site, {"/page": hotel("Adler")})
    crawler.crawl(site.url("/page"), max_pages=1)
    told = service("POST", "/categories/hotel/try", json={"url": site.url("/page")}).json()
    assert told["fields"]["h1"] == "Adler"


@pytest.mark.slow
def test_a_category_in_use_is_deleted_only_by_force(service: Service, extraction: Extraction, site: Site) -> None:
    put(service, "hotel", HOTEL)
    extraction.queue.add(site.url("/a"), category="hotel")
    told = service("DELETE", "/categories/hotel").json()
    assert told["code"] == "category_in_use"
    assert "1 entries of the category 'hotel'" in told["detail"]
    extraction.queue.work()
    extraction()
    assert service("DELETE", "/categories/hotel").status_code == 204, "all of it is done"
    put(service, "hotel", HOTEL)
    extraction.queue.add(site.url("/b"), category="hotel")
    assert service("DELETE", "/categories/hotel?force=true").status_code == 204
    (shown,) = service.get("/categories")["categories"]
    assert (shown["name"], shown["defined"], shown["entries"]) == ("hotel", False, 2)
    assert service.get("/queue/counts")["undefined"] == 2


@pytest.mark.slow
def test_an_entry_is_shown_with_what_was_read(service: Service, extraction: Extraction, site: Site) -> None:
    put(service, "hotel", HOTEL)
    extraction.fetch(site.url("/a"), category="hotel")
    (entry,) = extraction.entries()
    assert service.get(f"/queue/{entry['id']}")["extraction"] is None
    extraction()
    told = service.get(f"/queue/{entry['id']}")
    assert told["entry"]["status"] == "done"
    assert told["extraction"]["fields"] == {"name": "Adler", "price": "120 €"}
    assert (told["extraction"]["job_status"], told["extraction"]["language"]) == ("pending", "en")
    assert service.get("/queue/counts")["classification"] == {"waiting": 1, "sent": 0}
    assert service("GET", "/queue/999999").json()["code"] == "not_found"


@pytest.mark.slow
def test_extractions_are_exported_and_harmless(service: Service, extraction: Extraction, site: Site) -> None:
    put(service, "hotel", HOTEL)
    extraction.fetch(site.url("/a"), site.url("/b"), category="hotel")
    extraction.fetch(site.url("/c"))
    extraction()
    lines = service("GET", "/queue/extractions").text.splitlines()
    assert [json.loads(line)["url"] for line in lines] == [site.url(path) for path in ("/a", "/b", "/c")]
    answer = service("GET", "/queue/extractions", params={"format": "csv", "category": "hotel"})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    first, second = csv.DictReader(io.StringIO(answer.text))
    assert (first["name"], first["price"]) == ("Adler", "120 €")
    assert (second["name"], second["price"]) == ("'=HYPERLINK(1)", "")
    assert second["text"].startswith("'=HYPERLINK(1)")
    everything = list(csv.DictReader(io.StringIO(service("GET", "/queue/extractions?format=csv").text)))
    assert json.loads(everything[2]["fields"])["h1"] == "Bear"


def test_a_web_archive_is_imported_as_its_bytes_say(service: Service) -> None:
    record = b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: %s\r\nContent-Length: 2\r\n\r\nab\r\n\r\n"
    data = record % b"https://a.example/1" + record % b"nonsense" + record % b"https://b.example/2"
    headers = {"Content-Type": "application/warc"}
    answer = service("POST", "/queue/import?category=hotel&priority=2", content=data, headers=headers)
    report = answer.json()
    assert (report["added"], report["bad"], report["problems"][0]["line"]) == (2, 1, 2), answer.text
    entries = service.get("/queue")["items"]
    assert {(entry["category"], entry["priority"]) for entry in entries} == {("hotel", 2)}


@pytest.mark.slow
def test_a_field_that_is_found_no_more_is_reported_once(
    service: Service, extraction: Extraction, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    put(service, "hotel", HOTEL)
    with extraction.tools.database.begin() as db:
        db.exec_driver_sql("INSERT INTO extraction_counts VALUES ('hotel', 169)")
        db.exec_driver_sql(
            "INSERT INTO field_fills (category, field, number, filled, total) "
            "SELECT 'hotel', f, n, 50, 50 FROM unnest(ARRAY['name', 'price']) f, generate_series(0, 2) n"
        )
        db.exec_driver_sql(
            "INSERT INTO field_fills (category, field, number, filled, total) "
            "VALUES ('hotel', 'name', 3, 19, 19), ('hotel', 'price', 3, 1, 19)"
        )
    assert service.get("/categories/hotel")["alarms"] == []
    extraction.fetch(site.url("/b"), category="hotel")
    extraction()
    shown = service.get("/categories/hotel")
    assert shown["alarms"] == ["price"]
    assert shown["extractions"] == 170
    (price,) = [fill for fill in shown["fill"] if fill["field"] == "price"]
    assert (price["share"], price["of"], price["usual"], price["dropped"]) == (0.05, 20, 1.0, True)
    told = capsys.readouterr()
    assert (told.out + told.err).count("field_fill_dropped") == 1
    extraction.fetch(site.url("/c"), category="hotel")
    extraction()
    told = capsys.readouterr()
    assert "field_fill_dropped" not in told.out + told.err, "once for each window"
    metrics = service("GET", "/metrics").text
    assert 'crawler_field_fill{category="hotel",field="price"}' in metrics
    assert 'crawler_field_fill_dropped{category="hotel",field="price"} 1.0' in metrics


def test_keys_that_are_limited_to_projects_may_not_use_categories(service: Service) -> None:
    limited = service.as_(Scope.WRITE, service.project()["id"])
    assert limited("GET", "/categories").status_code == 403
    assert put(limited, "hotel", HOTEL).status_code == 403
    assert put(service.as_(Scope.READ), "hotel", HOTEL).status_code == 403


def test_a_trial_says_what_went_wrong(service: Service, extraction: Extraction, site: Site) -> None:
    extraction.fetch(site.url("/a"))
    (entry,) = extraction.entries()
    manage = extraction.tools.acquisition.manage_categories

    class Fails:
        def __init__(self, seconds: float) -> None: ...
        def __enter__(self) -> Any:
            return lambda *_: ExtractionFailed("timeout", "It took too long.")

        def __exit__(self, *_: object) -> None: ...

    manage._extractor = Fails
    told = service("POST", "/categories/hotel/try", json={"queue_id": entry["id"]}).json()
    assert (told["problem"], told["fields"]) == ("timeout: It took too long.", {})
