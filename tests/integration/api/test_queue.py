"""The acquisition queue over HTTP."""

import base64
import csv
import io
import json
import time
from contextlib import ExitStack
from typing import Any

import pytest

from crawler.domain import judging
from crawler.domain.api_keys import Scope
from crawler.domain.crawls.project import ACQUISITION_ID
from crawler.entrypoints.http import body_limit, limits
from tests.integration.api.conftest import Service

CSV = (
    "Category;URL;Priority\n"
    "hotel;https://a.example/rooms;1\n"
    "hotel;http://a.example/rooms/;2\n"
    "bar;http://b.example/;\n"
    ";nonsense;3\n"
    '=cmd();"http://c.example/";12\n'
    "=cmd();http://d.example/;9\n"
)


def imported(service: Service, text: str = CSV, **query: str) -> dict[str, object]:
    answer = service("POST", "/queue/import", content=text, params=query, headers={"Content-Type": "text/csv"})
    assert answer.status_code == 200, answer.text
    report: dict[str, object] = answer.json()
    return report


def urls(service: Service, **query: object) -> list[str]:
    return [entry["source_url"] for entry in service.get("/queue", **query)["items"]]


def test_a_file_lands_row_by_row_and_tells_what_does_not(service: Service) -> None:
    report = imported(service)
    problems = report.pop("problems")
    assert report == {"added": 3, "duplicates": 1, "bad": 2}
    assert [(problem["line"], "whole number" in problem["reason"]) for problem in problems] == [(5, False), (6, True)]  # type: ignore[attr-defined]
    assert imported(service) | {"problems": ()} == {"added": 0, "duplicates": 4, "bad": 2, "problems": ()}
    (first, *_) = service.get("/queue")["items"]
    assert {name: first[name] for name in ("status", "category", "priority", "attempts", "is_active", "host")} == {
        "status": "pending", "category": "hotel", "priority": 1, "attempts": 0, "is_active": True, "host": "a.example",
    }  # fmt: skip
    assert service.get(f"/projects/{ACQUISITION_ID}")["name"] == "acquisition"


def test_an_export_is_harmless_and_can_be_imported(service: Service) -> None:
    imported(service)
    answer = service("GET", "/queue/export", params={"category": "=cmd()"})
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    (row,) = csv.DictReader(io.StringIO(answer.text))
    assert (row["url"], row["category"], row["priority"]) == ("http://d.example/", "'=cmd()", "9")
    everything = service("GET", "/queue/export").text
    assert service("POST", "/queue/bulk", json={"action": "delete", "all": True}).json() == {
        "changed": 3,
        "next_after": None,
    }
    assert imported(service, everything)["added"] == 3
    assert urls(service, category="=cmd()") == ["http://d.example/"]


def test_lists_are_filtered_sorted_and_go_on_where_they_ended(service: Service) -> None:
    for number in range(6):
        body = {"urls": [f"http://h{number}.example/{number}"], "priority": number % 3, "category": "ab"[number % 2]}
        assert service("POST", "/queue", json=body).json()["added"] == 1
    assert urls(service, category="a") == [f"http://h{number}.example/{number}" for number in (0, 2, 4)]
    assert urls(service, host="H1.example") == urls(service, prefix="https://h1.ex") == ["http://h1.example/1"]
    assert urls(service, prefix="http://h1.example/1/") == ["http://h1.example/1"], "itself, and what is below"
    assert urls(service, status="failed") == urls(service, active=False) == []
    for sort, expected in (("id", "012345"), ("-id", "543210"), ("priority", "031425")):
        found, cursor = "", None
        while True:
            part = service.get("/queue", sort=sort, limit=4, **({"cursor": cursor} if cursor else {}))
            found += "".join(entry["source_url"][-1] for entry in part["items"])
            cursor = part["next_cursor"]
            if cursor is None:
                break
        assert found == expected
    stranger = service.get("/queue", sort="id", limit=1)["next_cursor"]
    assert service("GET", "/queue", params={"sort": "priority", "cursor": stranger}).json()["code"] == "invalid_cursor"
    assert service.get("/queue/counts")["counts"]["pending"] == 6


def test_bulk_changes_need_to_be_told_which(service: Service) -> None:
    imported(service)
    (first, *_) = service.get("/queue")["items"]
    wrongs: list[dict[str, Any]] = [
        {},
        {"filter": {}},
        {"ids": [first["id"]], "all": True},
        {"filter": {"color": "red"}},
    ]
    for wrong in wrongs:
        answer = service("POST", "/queue/bulk", json={"action": "delete", **wrong})
        assert answer.status_code == 422, wrong
    bulk = {"action": "deactivate", "ids": [first["id"], 2**50]}
    assert service("POST", "/queue/bulk", json=bulk).json() == {"changed": 1, "next_after": None}
    assert urls(service, active=False) == [first["source_url"]]
    assert service("POST", "/queue/bulk", json={"action": "reactivate", "filter": {"active": False}}).json() == {
        "changed": 1,
        "next_after": None,
    }
    assert len(urls(service)) == 3


def test_files_are_read_one_at_a_time_and_half_of_the_time_none() -> None:
    """Whoever reads keeps every other request from its turn."""
    began, worked = time.monotonic(), time.thread_time()
    for _ in range(5):
        with limits.import_turn():
            assert not limits._reading.acquire(blocking=False)
            sum(range(200_000))
    assert time.monotonic() - began > 1.8 * (time.thread_time() - worked)


def test_only_so_many_files_are_read_at_once_and_few_of_one_caller(service: Service) -> None:
    """A file may be sent as slowly as its sender likes."""
    key, other = service.engine.tools.store.find_key(service.secret), service.as_(Scope.WRITE)
    assert key is not None
    before = judging.caller.set(key.id)
    with ExitStack() as held:
        for _ in range(limits.IMPORTS_OF_ONE):
            held.enter_context(limits.one_import())
        refused = service("POST", "/queue/import", content=CSV)
        for number in range(limits.IMPORTS + limits.IMPORTS_OF_NEW - limits.IMPORTS_OF_ONE):
            assert other("POST", "/queue/import", content=CSV).status_code == 200
            judging.caller.set(f"somebody {number}")
            held.enter_context(limits.one_import())
        assert other("POST", "/queue/import", content=CSV).status_code == 503
    judging.caller.reset(before)
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")
    assert "Retry-After" in refused.headers
    assert service("POST", "/queue/import", content=CSV).status_code == 200


def test_a_run_takes_what_waits(service: Service) -> None:
    imported(service)
    run = service("POST", "/queue/run")
    assert run.status_code == 202
    assert (run.json()["entries"], len(run.json()["crawl_ids"])) == (3, 1)
    assert service("POST", "/queue/run").json() == {"entries": 0, "crawl_ids": []}
    crawl = service.get(f"/crawl/{run.json()['crawl_ids'][0]}")
    assert (crawl["crawl_type"], crawl["total_discovered"], crawl["project_id"]) == (
        "fetch_only", 3, str(ACQUISITION_ID),
    )  # fmt: skip
    assert service("DELETE", f"/projects/{ACQUISITION_ID}").status_code == 409


def test_entries_of_a_project_are_its_own(service: Service) -> None:
    project = service.project()["id"]
    assert imported(service, "url\nhttp://a.example/", project_id=project)["added"] == 1
    assert service.get("/queue")["items"][0]["project_id"] == project
    nobody = "01890a5d-ac96-774b-bcce-b302099a8057"
    for answer in (
        service("POST", "/queue/import", content="url\nhttp://b.example/", params={"project_id": nobody}),
        service("POST", "/queue", json={"urls": ["http://b.example/"], "project_id": nobody}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    caller = service.as_(Scope.ADMIN, project)
    assert caller("GET", "/queue").status_code == 403, "the queue is of all projects"
    assert caller("GET", "/metrics").status_code == 403, "so are its counts"


@pytest.mark.parametrize("body", [b"", b"PK\x03\x04" + bytes(range(256)), b"[1, 2]", b"\xff\xfe", b"a,b\nhttp://x/"])
def test_what_is_no_list_is_refused_with_a_sentence(service: Service, body: bytes) -> None:
    answer = service("POST", "/queue/import", content=body)
    assert answer.status_code == 422
    assert "first line" in answer.json()["detail"]
    assert "form" in service("POST", "/queue/import", files={"file": ("a.csv", CSV)}).json()["detail"]


@pytest.mark.slow
def test_only_an_import_may_be_longer_than_other_bodies(service: Service) -> None:
    rows = "url,category\n" + "".join(f"http://a.example/{number:01000},x\n" for number in range(4_200))
    assert len(rows) > body_limit.MOST_BYTES
    assert imported(service, rows)["added"] == 4_200
    assert service("POST", "/queue", content=rows).status_code == 413


@pytest.mark.slow
def test_a_large_import_leaves_statistics_that_claims_are_planned_by(service: Service) -> None:
    rows = "url,category\n" + "".join(f"http://a.example/{number},x\n" for number in range(12_000))
    assert imported(service, rows)["added"] == 12_000
    (known,) = service.engine.rows("SELECT reltuples FROM pg_class WHERE relname = 'crawl_queue'")
    assert known["reltuples"] > 10_000, "or a claim would sort all of them"


@pytest.mark.parametrize(
    "at",
    [
        "2026-W01-1T00:00:00+00:00",
        "2026-01-01T00:00:00,5+00:00",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-12:00",
    ],
)
def test_a_cursor_with_a_time_only_python_reads_is_refused(service: Service, at: str) -> None:
    imported(service)
    kind = json.loads(base64.urlsafe_b64decode(service.get("/queue", sort="priority", limit=1)["next_cursor"] + "=="))[
        0
    ]
    forged = base64.urlsafe_b64encode(json.dumps([kind, "5", at, "1"]).encode()).decode().rstrip("=")
    answer = service("GET", "/queue", params={"sort": "priority", "cursor": forged})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_cursor")
