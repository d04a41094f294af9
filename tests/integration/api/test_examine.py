"""Looking closely at a crawl over HTTP: explain, audit, a rebuilt queue, pictures of pages."""

from uuid import uuid4

import pytest

from crawler.domain.api_keys import Scope
from crawler.domain.crawls.crawl import CrawlJob
from crawler.entrypoints.http import limits
from tests.integration.api.conftest import Service
from tests.integration.handmade import host_of, lay
from tests.site.client import Site

PNG = b"\x89PNG\r\n\x1a\n large"
SMALL = b"\x89PNG\r\n\x1a\n small"


@pytest.fixture
def crawl(service: Service, site: Site) -> CrawlJob:
    lay(site, {"/": ["/a", "/gone"], "/a": []})
    site.remove("/gone")
    return service.engine.crawl(site.url(), delay_seconds=0.05, use_sitemaps=False)


def test_a_url_is_explained_as_in_the_terminal(service: Service, crawl: CrawlJob, site: Site) -> None:
    told = service.get(f"/crawl/{crawl.id}/explain", url=site.url("/GONE#x"))
    assert (told["known"], told["state"], told["reason"]) == (True, "skipped", "not_found")
    assert told == service.engine.tools.crawls.explain_url(crawl.id, site.url("/gone")).model_dump(mode="json")
    elsewhere = service.get(f"/crawl/{crawl.id}/explain", url="https://elsewhere.example/")
    assert (elsewhere["known"], elsewhere["ruling"]["reason"]) == (False, "off_domain")
    for bad in ("http://a\\@b/", "javascript:1", "http://127.1/", ""):
        assert service("GET", f"/crawl/{crawl.id}/explain", params={"url": bad}).status_code == 422, bad
    assert service("GET", f"/crawl/{crawl.id}/explain").status_code == 422


def test_politeness_is_audited(service: Service, crawl: CrawlJob, site: Site) -> None:
    told = service.get(f"/crawl/{crawl.id}/audit")
    assert told["violations"] == 0
    (host,) = told["hosts"]
    assert (host["host"], host["requests"], host["owed_gap_seconds"]) == (host_of(site), len(site.requests()), 0.05)
    assert host["smallest_gap_seconds"] >= 0.05


def test_a_running_crawls_queue_is_rebuilt_by_admins_alone(service: Service, site: Site) -> None:
    engine = service.engine
    crawl = engine.start(engine.project(site.url()))
    engine.tools.redis.flushdb()
    path = f"/crawl/{crawl.id}/rebuild-frontier"
    assert service.as_(Scope.WRITE)("POST", path).status_code == 403
    assert service("POST", path).json() == {"crawl_id": str(crawl.id), "queued": 1}
    engine.tools.crawls.control.cancel(crawl.id)
    refused = service("POST", path)
    assert (refused.status_code, refused.json()["code"]) == (409, "conflict")


def test_what_a_key_does_not_see_is_not_examined(service: Service, crawl: CrawlJob) -> None:
    stranger = service.as_(Scope.READ, service.project(name="elsewhere")["id"])
    for path in (f"/crawl/{crawl.id}/explain?url=http://a.example/", f"/crawl/{crawl.id}/audit"):
        assert stranger("GET", path).status_code == 404
        assert service("GET", path.replace(str(crawl.id), str(uuid4()))).status_code == 404


def test_many_who_look_through_crawls_at_once_wait_or_are_sent_away(
    service: Service, crawl: CrawlJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "HEAVY_WAIT_SECONDS", 0.01)
    key = service.engine.tools.store.find_key(service.secret)
    assert key is not None
    with limits._heavy_reads.place(key.id, 0):
        assert service("GET", f"/crawl/{crawl.id}/audit").status_code == 503, "one at a time of each"
        with limits._heavy_reads.place("another", 0):
            assert service.as_(Scope.READ)("GET", f"/crawl/{crawl.id}/audit").status_code == 200
            with limits._heavy_reads.place("a third", 0):
                assert service.as_(Scope.READ)("GET", f"/crawl/{crawl.id}/audit").status_code == 503
    assert service("GET", f"/crawl/{crawl.id}/audit").status_code == 200


def test_a_page_is_shown_as_a_picture_that_cannot_do_harm(service: Service, crawl: CrawlJob) -> None:
    engine = service.engine
    (page,) = engine.rows(
        "SELECT id, version_id FROM crawled_pages WHERE crawl_id = :id AND url LIKE '%/a'", id=crawl.id
    )
    path = f"/projects/{crawl.project_id}/pages/{page['id']}/screenshot"
    assert service("GET", path).status_code == 404
    keep = (
        "INSERT INTO screenshots (version_id, image, thumbnail) VALUES (:version, :image, :small) RETURNING version_id"
    )
    engine.rows(keep, version=page["version_id"], image=PNG, small=SMALL)
    for query, expected in (({}, PNG), ({"thumbnail": "true"}, SMALL), ({"version": str(page["version_id"])}, PNG)):
        answer = service("GET", path, params=query)
        assert (answer.status_code, answer.content, answer.headers["content-type"]) == (200, expected, "image/png")
        assert answer.headers["x-version-id"] == str(page["version_id"])
    octets = service("GET", path, headers={"Accept": "application/octet-stream"})
    assert (octets.content, octets.headers["content-type"]) == (PNG, "application/octet-stream")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    assert service("GET", path, params={"version": str(uuid4())}).status_code == 404
    other = service.project(name="elsewhere")["id"]
    assert service("GET", path.replace(str(crawl.project_id), other)).status_code == 404
