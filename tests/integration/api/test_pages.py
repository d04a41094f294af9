"""Pages, URLs, versions and exports over HTTP: what the crawl stored, whole, in a stable order, and harmless."""

import csv
import io
import json
from contextlib import ExitStack
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from crawler.adapters.crawls.url_reader import UrlReader
from crawler.adapters.pages.reader import PageReader
from crawler.domain import judging
from crawler.domain.crawls.crawl import CrawlJob
from crawler.entrypoints.http import streaming
from tests.integration.api.conftest import Service
from tests.integration.handmade import lay, page
from tests.site.client import Site

EVIL = '</title><script>alert(1)</script>"><svg onload=alert(2)>'
ODD_TITLE = "=HYPERLINK(1) <script>alert(1)</script> \u202egnp.exe \x1b[2J"


@pytest.fixture
def crawl(service: Service, site: Site) -> CrawlJob:
    lay(
        site,
        {
            "/": page("/docs/a", "/docs/b", "/blog/c", "/missing", "/broken", title="Welcome home"),
            "/docs/a": page("/", title="Apples and pears", body="<h1>A</h1><p>Fruit <b>here</b>.</p>"),
            "/docs/b": page(title="Bananas", body="<p>More fruit.</p>"),
            "/blog/c": page(title=ODD_TITLE),
        },
    )
    site.edit("/broken", status=500)
    return service.engine.crawl(site.url(), render="never")


def paged(service: Service, path: str, **query: Any) -> list[dict[str, Any]]:
    """All of a list, three at a time."""
    found, cursor = [], None
    while True:
        part = service.get(path, limit=3, **({"cursor": cursor} if cursor else {}), **query)
        assert len(part["items"]) <= 3
        found += part["items"]
        cursor = part["next_cursor"]
        if cursor is None:
            return found


def paths(rows: list[dict[str, Any]]) -> list[str]:
    return ["/" + row["normalized_url"].split("/", 3)[3] for row in rows]


def test_pages_are_listed_by_url_and_filtered(service: Service, crawl: CrawlJob, site: Site) -> None:
    path = f"/projects/{crawl.project_id}/pages"
    everything = ["/", "/blog/c", "/broken", "/docs/a", "/docs/b", "/missing"]
    assert paths(paged(service, path)) == everything
    assert paths(paged(service, path, status="success")) == ["/", "/blog/c", "/docs/a", "/docs/b"]
    assert paths(paged(service, path, status="failed")) == ["/broken"]
    assert paths(paged(service, path, reason="not_found")) == ["/missing"]
    assert paths(paged(service, path, reason="not_found", status="failed")) == []
    assert paths(paged(service, path, prefix="/docs")) == ["/docs/a", "/docs/b"]
    assert paths(paged(service, path, prefix=site.url("/DOCS/a"))) == ["/docs/a"]
    assert paths(paged(service, path, q="apples")) == ["/docs/a"]
    assert paths(paged(service, path, q="PEARS -bananas")) == ["/docs/a"]
    assert paths(paged(service, path, q="apples or bananas")) == ["/docs/a", "/docs/b"]
    since = crawl.created_at.isoformat()
    assert paths(paged(service, path, changed_since=since)) == ["/", "/blog/c", "/docs/a", "/docs/b"]
    later = (service.engine.tools.clock() + timedelta(hours=1)).isoformat()
    assert paged(service, path, changed_since=later) == []
    assert paged(service, path, changed_since="8000-07-20T12:13:56-21:25") == [], "further than Postgres counts"
    assert "content_text" not in service.get(path)["items"][0], "a list carries no texts"


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 2, 5000])
def test_filters_find_everything_however_few_rows_are_looked_at_at_once(
    service: Service, crawl: CrawlJob, site: Site, most: int
) -> None:
    tools = service.engine.tools
    tools.pages.reader = PageReader(tools.database, most)
    tools.crawls.urls = UrlReader(tools.database, most)
    pages, urls = f"/projects/{crawl.project_id}/pages", f"/crawl/{crawl.id}/urls"
    good = ["/", "/blog/c", "/docs/a", "/docs/b"]
    assert paths(paged(service, pages, status="success")) == good
    assert paths(paged(service, pages, reason="not_found")) == ["/missing"]
    assert paths(paged(service, pages, reason="unchanged")) == []
    assert paths(paged(service, urls, fetch_state="done")) == good
    assert paths(paged(service, urls, status="ingested")) == good
    assert paths(paged(service, urls, fetch_state="queued")) == []
    assert paths(paged(service, urls, fetch_state="failed")) == ["/broken"]
    assert paths(paged(service, urls, fetch_state="skipped")) == ["/missing"]
    assert paths(paged(service, urls, reason="http_5xx")) == ["/broken"]
    assert paths(paged(service, urls, reason="http_5xx", fetch_state="failed", status="failed")) == ["/broken"]
    assert paths(paged(service, urls, reason="http_5xx", fetch_state="done")) == []
    assert paths(paged(service, urls, reason="not_found", prefix=site.url("/m"))) == ["/missing"]
    again = service.engine.again(crawl)
    assert paths(paged(service, pages, reason="unchanged")) == good
    assert paths(paged(service, f"/crawl/{again.id}/urls", reason="unchanged")) == good


def test_a_crawl_with_its_urls_is_the_shape_it_is_described_as(service: Service, crawl: CrawlJob) -> None:
    answer = service.get(f"/crawl/{crawl.id}", include="urls")
    urls = service.get(f"/crawl/{crawl.id}/urls")["items"]
    assert answer == {**service.get(f"/crawl/{crawl.id}"), "discovered_urls": urls}
    assert len(urls) == 6


@pytest.mark.slow
@pytest.mark.quick(3)
@pytest.mark.parametrize(
    "query",
    [
        {"status": "done"},
        {"reason": "because"},
        {"changed_since": "yesterday"},
        {"changed_since": "0001-01-01T00:00:00+23:59"},
        {"changed_since": "9999-12-31T23:59:59-23:59"},
        {"changed_since": "2026-01-01T00:00:00"},
        {"prefix": "x" * 2001},
        {"q": "a\x00b"},
        {"cursor": "WyJ1cmxzIiwiYSJd"},
    ],
)
def test_a_filter_that_is_none_is_refused(service: Service, crawl: CrawlJob, query: dict[str, str]) -> None:
    answer = service("GET", f"/projects/{crawl.project_id}/pages", params=query)
    assert answer.status_code == 422, answer.text


@pytest.mark.slow
@pytest.mark.quick(3)
@pytest.mark.parametrize(
    "words", ["'", '"', "& | !", ":*", "\\", "a:b", "\U0001f34e", "%_", "(" * 100, "'; DROP TABLE x"]
)
def test_any_words_may_be_looked_for(service: Service, crawl: CrawlJob, words: str) -> None:
    assert service("GET", f"/projects/{crawl.project_id}/pages", params={"q": words}).status_code == 200


def test_a_page_is_shown_whole(service: Service, crawl: CrawlJob) -> None:
    (row,) = service.get(f"/projects/{crawl.project_id}/pages", prefix="/docs/a")["items"]
    whole = service.get(f"/projects/{crawl.project_id}/pages/{row['id']}")
    assert {name: whole[name] for name in row} == row
    assert whole["title"] == "Apples and pears"
    assert whole["h1"] == "A"
    assert "Fruit here." in whole["content_text"]
    assert [link.rpartition("/")[2] for link in whole["links_found"]] == [""]
    elsewhere = service.project(name="elsewhere")
    for path in (f"/projects/{crawl.project_id}/pages/{uuid4()}", f"/projects/{elsewhere['id']}/pages/{row['id']}"):
        for part in ("", "/markdown", "/snapshot", "/versions", "/diff"):
            assert service("GET", path + part).status_code == 404, path + part


def test_the_content_of_a_page_cannot_run_in_a_browser(service: Service, site: Site) -> None:
    html = page(title="t", body=f"<p>{EVIL}</p>")
    lay(site, {"/": html})
    crawl = service.engine.crawl(site.url(), render="never")
    (row,) = service.get(f"/projects/{crawl.project_id}/pages")["items"]
    for part, kind in (("snapshot", "application/octet-stream"), ("markdown", "text/markdown; charset=utf-8")):
        answer = service("GET", f"/projects/{crawl.project_id}/pages/{row['id']}/{part}")
        assert answer.headers["content-type"] == kind
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]
        if part == "snapshot":
            assert answer.content == html.encode()
            assert answer.headers["content-disposition"].startswith("attachment")
            assert answer.headers["x-original-content-type"].startswith("text/html")


def test_odd_titles_are_inert_in_json_and_csv(service: Service, crawl: CrawlJob) -> None:
    answer = service("GET", f"/projects/{crawl.project_id}/pages", params={"prefix": "/blog"})
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "\x1b" not in answer.text
    exported = service("GET", f"/crawl/{crawl.id}/export", params={"format": "csv"})
    rows = list(csv.DictReader(io.StringIO(exported.text)))
    (odd,) = [row for row in rows if row["normalized_url"].endswith("/blog/c")]
    assert odd["title"].startswith("'=")


@pytest.mark.slow
def test_versions_and_what_changed_between_them(service: Service, crawl: CrawlJob, site: Site) -> None:
    (row,) = service.get(f"/projects/{crawl.project_id}/pages", prefix="/docs/b")["items"]
    path = f"/projects/{crawl.project_id}/pages/{row['id']}"
    one = service("GET", f"{path}/diff")
    assert (one.status_code, "no earlier version" in one.json()["detail"]) == (404, True)
    lay(site, {"/docs/b": page(title="Bananas", body="<p>More fruit.</p><p>And nuts.</p>")})
    service.engine.again(crawl)
    lay(site, {"/docs/b": page(title="Bananas", body="<p>And nuts.</p>")})
    service.engine.again(crawl)
    versions = paged(service, f"{path}/versions")
    assert len(versions) == 3
    assert [v["fetched_at"] for v in versions] == sorted((v["fetched_at"] for v in versions), reverse=True)
    latest = service.get(f"{path}/diff")
    assert (latest["added"], latest["removed"] > 0, latest["exact"]) == (0, True, True)
    assert "-More fruit." in latest["unified"].splitlines()
    middle = service.get(f"{path}/diff", **{"from": versions[2]["id"], "to": versions[1]["id"]})
    assert "+And nuts." in middle["unified"].splitlines()
    old = service("GET", f"{path}/markdown", params={"version": versions[2]["id"]}).text
    assert "More fruit." in old
    assert "nuts" not in old
    assert service("GET", f"{path}/diff", params={"from": versions[0]["id"]}).status_code == 422
    assert service("GET", f"{path}/versions", params={"cursor": "WyJ2ZXJzaW9ucyIsIngiLCJ5Il0"}).status_code == 422


def test_markdown_is_pruned_where_the_project_asks_for_it(service: Service, site: Site) -> None:
    teaser = "<div class=teaser><h3>More</h3><p>Read on</p></div>"
    lay(site, {"/": page(body=f"{teaser}<article><p>{'What readers come for. ' * 40}</p></article>")})
    crawl = service.engine.crawl(site.url(), prune_markdown=True)
    (found,) = service.get(f"/projects/{crawl.project_id}/pages")["items"]
    one = service("GET", f"/projects/{crawl.project_id}/pages/{found['id']}/markdown").text
    whole = service("GET", f"/projects/{crawl.project_id}/markdown").text
    for text in (one, whole):
        assert "What readers come for." in text
        assert "Read on" not in text


# -- exports ----------------------------------------------------------------------------------


def test_a_crawl_can_be_taken_away_in_every_format(service: Service, crawl: CrawlJob) -> None:
    lines = service("GET", f"/crawl/{crawl.id}/export", params={"format": "jsonl"})
    assert lines.headers["content-type"] == "application/x-ndjson"
    assert lines.headers["content-disposition"] == 'attachment; filename="pages.jsonl"'
    rows = [json.loads(line) for line in lines.text.splitlines()]
    assert len(rows) == 6
    site = service("GET", f"/crawl/{crawl.id}/export", params={"format": "markdown"}).text
    assert site.startswith(f"\n--- {crawl.seed_url} (depth 1) ---")
    assert service("GET", f"/crawl/{crawl.id}/export", params={"format": "pdf"}).status_code == 422
    assert service("GET", f"/crawl/{crawl.id}/export").status_code == 422
    whole = service("GET", f"/projects/{crawl.project_id}/markdown").text
    assert whole.startswith(f"\n--- {crawl.seed_url} (depth 1) ---")
    assert whole.count("\n--- ") == 4


@pytest.mark.slow
def test_a_past_crawl_is_exported_as_it_was(service: Service, crawl: CrawlJob, site: Site) -> None:
    lay(site, {"/docs/b": page(title="Changed")})
    service.engine.again(crawl)
    lines = service("GET", f"/crawl/{crawl.id}/export", params={"format": "jsonl"}).text.splitlines()
    assert "Bananas" in {json.loads(line)["title"] for line in lines}


def test_the_export_of_nothing_is_an_empty_file(service: Service) -> None:
    project = service.project()
    crawl_id = service("POST", f"/projects/{project['id']}/phases/crawl/run").json()["crawl_id"]
    assert service("GET", f"/crawl/{crawl_id}/export", params={"format": "jsonl"}).content == b""
    assert service("GET", f"/projects/{project['id']}/markdown").content == b""


def test_exports_give_their_connection_back_also_when_nobody_reads_on(service: Service, crawl: CrawlJob) -> None:
    pool = service.engine.tools.database.pool
    for _ in range(streaming.MOST_STREAMS + 3):
        with service.client.stream(
            "GET",
            f"/api/v1/crawl/{crawl.id}/export",
            params={"format": "jsonl"},
            headers={"Authorization": f"Bearer {service.secret}"},
        ) as answer:
            assert answer.status_code == 200
            next(answer.iter_bytes())
    assert pool.checkedout() == 0  # type: ignore[attr-defined]


def test_more_exports_than_places_are_told_to_wait(service: Service, crawl: CrawlJob) -> None:
    with ExitStack() as held:
        for number in range(streaming.MOST_STREAMS + streaming.MOST_OF_NEW):
            before = judging.caller.set(f"somebody {number}")
            held.enter_context(streaming._place())
            judging.caller.reset(before)
        answer = service("GET", f"/crawl/{crawl.id}/export", params={"format": "csv"})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "30")
    assert service("GET", f"/crawl/{crawl.id}/export", params={"format": "csv"}).status_code == 200


# -- URLs and history -------------------------------------------------------------------------


def test_every_url_of_a_crawl_is_listed_with_its_reason(service: Service, crawl: CrawlJob) -> None:
    path = f"/crawl/{crawl.id}/urls"
    assert paths(paged(service, path)) == ["/", "/blog/c", "/broken", "/docs/a", "/docs/b", "/missing"]
    assert paths(paged(service, path, fetch_state="failed")) == ["/broken"]
    assert paths(paged(service, path, reason="not_found")) == ["/missing"]
    assert paths(paged(service, path, status="ingested", prefix=crawl.seed_url + "docs/")) == ["/docs/a", "/docs/b"]
    (missing,) = paged(service, path, status="skipped")
    assert (missing["reason"], missing["http_status"], missing["depth"]) == ("not_found", 404, 1)


@pytest.mark.slow
def test_the_history_tells_what_each_crawl_found_changed(service: Service, crawl: CrawlJob, site: Site) -> None:
    lay(site, {"/docs/b": page(title="Bananas", body="Other fruit."), "/docs/a": page("/new", title="Apples")})
    lay(site, {"/new": page(title="New")})
    again = service.engine.again(crawl)
    path = f"/projects/{crawl.project_id}/crawl-history"
    newest, first = service.get(path)["items"]
    assert (newest["id"], first["id"]) == (str(again.id), str(crawl.id))
    assert first["change_summary"] is None
    assert newest["change_summary"]["summary"] == {
        "new_pages": 1,
        "removed_pages": 0,
        "changed_pages": 2,
        "unchanged_pages": 2,
    }
    changes = service.get(f"{path}/{again.id}/changes")
    assert (changes["state"], changes["compared_to"]) == ("compared", str(crawl.id))
    assert [url.rpartition("/")[2] for url in changes["new_page_urls"]] == ["new"]
    assert [url.rpartition("/")[2] for url in changes["changed_page_urls"]] == ["a", "b"]
    nothing = service.get(f"{path}/{crawl.id}/changes")
    assert (nothing["state"], nothing["summary"]) == ("nothing_to_compare_with", None)
    other = service.project(name="other")
    assert service("GET", f"/projects/{other['id']}/crawl-history/{crawl.id}/changes").status_code == 404


def test_the_report_is_shown_listed_and_taken_away(service: Service, crawl: CrawlJob) -> None:
    report = service.get(f"/crawl/{crawl.id}/report")
    found = {kind["kind"]: kind["found"] for kind in report["kinds"]}
    assert found["broken_link"] == 2
    broken = paged(service, f"/crawl/{crawl.id}/report/broken_link")
    assert sorted(paths(broken)) == ["/broken", "/missing"]
    assert all(finding["related"] for finding in broken)
    (one,) = service.get(f"/crawl/{crawl.id}/report", kind="broken_link", first=1)["kinds"]
    assert len(one["first"]) == 1
    table = service("GET", f"/crawl/{crawl.id}/report.csv", params={"kind": "broken_link"})
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert len(list(csv.DictReader(io.StringIO(table.text)))) >= 2
    assert service("GET", f"/crawl/{crawl.id}/report/colour").status_code == 422
    other = service.project(name="running")
    running = service("POST", f"/projects/{other['id']}/phases/crawl/run").json()["crawl_id"]
    assert service("GET", f"/crawl/{running}/report").status_code == 409
