"""Documents over HTTP: the feed, single ones, search; exact, and harmless whatever is asked or was crawled."""

from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.domain.api_keys import Scope
from crawler.domain.crawls.crawl import CrawlJob
from crawler.entrypoints.http.cursors import encode
from tests.integration.api.conftest import Service
from tests.integration.handmade import lay, page
from tests.site.client import Site

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def crawl(service: Service, site: Site) -> CrawlJob:
    lay(
        site,
        {
            "/": page("/docs/rye", "/docs/wheat", "/de", "/evil", title="Bakery", body="<p>Welcome to our shop.</p>"),
            "/docs/rye": page(
                title="Rye",
                body="<h1>Rye bread</h1><p>Rye loaves were baked with sourdough starters for a long while.</p>"
                "<h2>Storing</h2><p>Keep it in a wooden box.</p>",
            ),
            "/docs/wheat": page(title="Wheat", body="<h1>Wheat</h1><p>A sourdough of wheat is lighter.</p>"),
            "/de": page(
                title="Brot",
                body="<h1>Unsere Brote</h1><p>Wir backen unsere Brote jeden Morgen frisch in der alten Mühle, und die "
                "Kinder der Stadt holen sich ihre Brötchen vor der Schule ab.</p>",
            ),
            "/evil": page(
                title=EVIL.replace("<", "&lt;"), body=f"<p>Zebra {EVIL.replace('<', '&lt;')} \ue000zebra.</p>"
            ),
        },
    )
    crawl = service.engine.crawl(site.url(), ingest=True)
    service.engine.tools.documents.ingest()
    return crawl


def feed(service: Service, crawl: CrawlJob, **query: Any) -> list[dict[str, Any]]:
    """To its end, two at a time."""
    found, after = [], None
    while True:
        part = service.get(
            f"/projects/{crawl.project_id}/documents", limit=2, **({"after": after} if after else {}), **query
        )
        found += part["items"]
        after = part["next_cursor"]
        if not part["has_more"]:
            return found


def search(service: Service, crawl: CrawlJob, q: str, **query: Any) -> list[dict[str, Any]]:
    answer = service.get(f"/projects/{crawl.project_id}/search", q=q, **query)
    assert answer["mode"] == "text"
    items: list[dict[str, Any]] = answer["items"]
    return items


def paths(hits: list[dict[str, Any]]) -> list[str]:
    return ["/" + hit["url"].split("/", 3)[3] for hit in hits]


def marked(hit: dict[str, Any]) -> list[str]:
    return [part["text"] for part in hit["snippet"] if part["match"]]


def test_the_feed_tells_every_document_once_and_then_only_what_changed(
    service: Service, crawl: CrawlJob, site: Site
) -> None:
    first = feed(service, crawl)
    assert len({item["document"]["id"] for item in first}) == len(first) == 5
    assert {item["type"] for item in first} == {"upsert"}
    at_end = service.get(f"/projects/{crawl.project_id}/documents", limit=200)["next_cursor"]
    nothing = service.get(f"/projects/{crawl.project_id}/documents", after=at_end)
    assert (nothing["items"], nothing["has_more"], nothing["next_cursor"]) == ([], False, at_end)

    site.edit("/docs/rye", html=page(title="Rye", body="<p>Sold out.</p>"))
    site.remove("/docs/wheat")
    service.engine.again(crawl)
    service.engine.tools.documents.ingest()

    news = service.get(f"/projects/{crawl.project_id}/documents", after=at_end, include="chunks")["items"]
    assert [(item["type"], item["document"]["url"].rsplit("/", 1)[1]) for item in news] == [
        ("delete", "wheat"), ("upsert", "rye"),
    ]  # fmt: skip
    assert [chunk["content"] for chunk in news[1]["chunks"]] == ["Sold out."]
    assert news[0]["chunks"] == []


@pytest.mark.slow
def test_the_feed_names_the_change_that_caused_each(service: Service, crawl: CrawlJob, site: Site) -> None:
    before = {item["document"]["url"]: item["change"] for item in feed(service, crawl)}
    rye = before[site.url("/docs/rye")]
    assert (rye["kind"], rye["crawl_id"], rye["previous_version_id"]) == ("new", str(crawl.id), None)
    end = service.get(f"/projects/{crawl.project_id}/documents", limit=100)["next_cursor"]
    lay(site, {"/docs/rye": page(title="Rye", body="<h1>Rye bread</h1><p>Sold out.</p>")})
    lay(site, {"/": page("/docs/rye", "/docs/wheat", "/de", title="Bakery", body="<p>Welcome to our shop.</p>")})
    site.remove("/evil", status=410)
    again = service.engine.again(crawl)
    service.engine.tools.documents.ingest()
    path = f"/projects/{crawl.project_id}/documents"
    after = {item["document"]["url"]: item["change"] for item in service.get(path, after=end)["items"]}
    changed, gone = after[site.url("/docs/rye")], after[site.url("/evil")]
    assert (changed["kind"], changed["crawl_id"]) == ("changed", str(again.id))
    assert changed["previous_version_id"] == rye["version_id"] != changed["version_id"]
    assert gone == {"kind": "removed", "crawl_id": str(again.id), "version_id": None, "previous_version_id": None}


def test_a_document_and_its_chunks_can_be_read(service: Service, crawl: CrawlJob) -> None:
    (hit,) = search(service, crawl, "wooden box")
    document = service.get(f"/documents/{hit['document_id']}")
    assert (document["title"], document["status"], document["chunk_count"]) == ("Rye", "ingested", 2)
    part = service.get(f"/documents/{document['id']}/chunks", limit=1)
    rest = service.get(f"/documents/{document['id']}/chunks", cursor=part["next_cursor"])
    assert [chunk["headings"] for chunk in part["items"] + rest["items"]] == [["Rye bread"], ["Rye bread", "Storing"]]
    assert rest["next_cursor"] is None
    counts = service.get(f"/projects/{crawl.project_id}/documents/counts")
    assert (counts["ingested"], counts["pending"], counts["chunks"], counts["vectors"]) == (5, 0, 6, False)


@pytest.mark.slow
def test_words_are_found_in_the_language_of_their_document(service: Service, crawl: CrawlJob) -> None:
    assert paths(search(service, crawl, "loaf baking")) == [], "loaf is no form of loaves for the stemmer"
    assert paths(search(service, crawl, "starter bake")) == ["/docs/rye"]
    assert paths(search(service, crawl, "Brote")) == ["/de"]
    assert paths(search(service, crawl, "Brot")) == ["/de"]
    assert set(paths(search(service, crawl, "sourdough"))) == {"/docs/rye", "/docs/wheat"}
    assert paths(search(service, crawl, "sourdough -wheat")) == ["/docs/rye"]
    assert paths(search(service, crawl, '"wooden box"')) == ["/docs/rye"]
    assert paths(search(service, crawl, '"box wooden"')) == []
    assert set(paths(search(service, crawl, "wooden OR lighter"))) == {"/docs/rye", "/docs/wheat"}
    assert paths(search(service, crawl, "nothing like it")) == []


def test_a_match_in_the_title_comes_before_one_in_the_text(service: Service, crawl: CrawlJob) -> None:
    assert paths(search(service, crawl, "wheat"))[0] == "/docs/wheat"
    assert paths(search(service, crawl, "rye"))[0] == "/docs/rye"


@pytest.mark.slow
def test_a_prefix_narrows_the_search(service: Service, crawl: CrawlJob) -> None:
    assert set(paths(search(service, crawl, "sourdough", prefix="/docs/w"))) == {"/docs/wheat"}
    assert set(paths(search(service, crawl, "sourdough", prefix="/docs/wheat/"))) == {"/docs/wheat"}
    assert paths(search(service, crawl, "sourdough", prefix="/nowhere")) == []


def test_snippets_mark_matches_as_data_and_hold_no_markup_of_ours(service: Service, crawl: CrawlJob) -> None:
    (hit,) = search(service, crawl, "zebra")
    assert marked(hit) == ["Zebra", "zebra"]
    told = "".join(part["text"] for part in hit["snippet"])
    assert "\ue000" not in told
    (hit,) = search(service, crawl, "sourdough", prefix="/docs/w")
    assert marked(hit) == ["sourdough"]
    assert "A sourdough of wheat is lighter." in "".join(part["text"] for part in hit["snippet"])


def test_other_projects_documents_are_not_found(service: Service, crawl: CrawlJob) -> None:
    other = service.project(name="Other")
    assert service.get(f"/projects/{other['id']}/search", q="rye")["items"] == []
    assert service.get(f"/projects/{other['id']}/documents")["items"] == []
    (hit,) = search(service, crawl, "wooden")
    stranger = service.as_(Scope.READ, other["id"])
    for path in (
        f"/documents/{hit['document_id']}",
        f"/documents/{hit['document_id']}/chunks",
        f"/projects/{crawl.project_id}/search?q=rye",
        f"/projects/{crawl.project_id}/documents",
        f"/projects/{crawl.project_id}/documents/counts",
    ):
        assert stranger("GET", path).status_code == 404, path
    assert service("GET", f"/documents/{uuid4()}").status_code == 404


HOSTILE = [
    "&", "|", "!", "& | !", "<->", "<5>", ":*", "a:*", "'", "''", '"', '"""', "\\", "\\'", "'\\", "a\\", "(", ")",
    "-", "--", "-a", "- -a -b", "OR", "or or or", "OR a", "a OR", "a OR -b", '"a" -"b"', "a" * 500, "a " * 250, "% _",
    "h:rye", "p:x", "'h:rye'", "ye' | 'x", "\u202e\u0000"[:1], "\ud7ff", "😀", "\x1b[2J", "the", "the of and",
    "rye:A", "rye:*A", "<script>", "1=1; DROP TABLE documents", "${jndi:ldap://x}", "\ue000rye\ue001", "rye\n\nbread",
    "-" * 500, "(" * 4, "(" * 500, '"' * 500, "a <-> b", "!!rye", "rye & & bread", "a OR " * 100,
]  # fmt: skip


@pytest.mark.slow
def test_whatever_is_typed_is_answered(service: Service, crawl: CrawlJob) -> None:
    for q in HOSTILE:
        answer = service("GET", f"/projects/{crawl.project_id}/search", params={"q": q})
        assert answer.status_code == 200, (q, answer.text)

    @settings(suppress_health_check=list(HealthCheck))
    @given(st.text(alphabet="""ab-'"\\|&!<>():*OR 0漢😀""", min_size=1, max_size=80))
    def generated(q: str) -> None:
        service.engine.tools.documents.search(crawl.project_id, q, limit=5)

    generated()


def test_what_cannot_be_looked_for_is_refused(service: Service, crawl: CrawlJob) -> None:
    for q in ("", "a" * 501, "a" * 10_000, "a\x00b"):
        assert service("GET", f"/projects/{crawl.project_id}/search", params={"q": q}).status_code == 422, q


def test_a_cursor_of_something_else_is_refused(service: Service, crawl: CrawlJob) -> None:
    for after in ("x", "eyJ9", "W10", "WyJjaHVua3MiLCIxIl0", "WyJkb2N1bWVudHMiLCItMSJd"):
        answer = service("GET", f"/projects/{crawl.project_id}/documents", params={"after": after})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_cursor")


def refused(service: Service, project: object, after: str) -> str:
    answer = service("GET", f"/projects/{project}/documents", params={"after": after})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_cursor")
    said: str = answer.json()["detail"]
    return said


def test_a_cursor_of_another_project_s_feed_is_refused(service: Service, crawl: CrawlJob) -> None:
    other = service.engine.project("http://other.example/")
    cursor = service.get(f"/projects/{crawl.project_id}/documents", limit=2)["next_cursor"]
    assert "another project" in refused(service, other.id, cursor)
    refused(service, crawl.project_id, encode("documents", "2"))


@pytest.mark.slow
def test_a_cursor_beyond_the_end_says_to_read_from_the_beginning(service: Service, crawl: CrawlJob) -> None:
    """As after a restore: what comes up to there would never be told."""
    cursor = service.get(f"/projects/{crawl.project_id}/documents", limit=200)["next_cursor"]
    with service.engine.tools.database.begin() as db:
        db.exec_driver_sql("UPDATE document_feeds SET last_seq = last_seq - 1")
    assert "beginning" in refused(service, crawl.project_id, cursor)
