"""`POST /map`: the URLs of a site from its sitemaps, one page and the store, without crawling it."""

from typing import Any
from uuid import UUID

import pytest

from crawler.domain.api_keys import Scope
from tests.integration.api.test_scrape import Desk, desk
from tests.integration.handmade import asked, lay, page
from tests.integration.working import working
from tests.site.client import Site

__all__ = ["desk"]


def paths(answer: Any, site: Site) -> list[str]:
    assert answer.status_code == 200, answer.text
    assert answer.json()["complete"]
    return [one["url"].removeprefix(site.url("")) for one in answer.json()["urls"]]


def test_sitemap_links_and_store_are_listed_and_only_one_page_is_asked_for(desk: Desk, site: Site) -> None:
    lay(
        site, {"/": ["/", "/a", "/b?x=1", "http://elsewhere.example/", "/private/c"], "/stored": page(title="A kettle")}
    )
    site.set_robots(f"User-agent: *\nDisallow: /private\nSitemap: {site.url('/map.xml')}\n")
    locs = "".join(f"<url><loc>{site.url(path)}</loc></url>" for path in ("/a", "/listed"))
    urlset = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{locs}</urlset>'
    site.edit("/map.xml", html=urlset)
    project = desk.engine.project(site.url(), max_pages=5)
    desk.engine.run(desk.engine.start(project, urls=(site.url("/stored"),)))
    before = len(asked(site))
    with working(desk.engine):
        all_of_them = paths(desk.post("/map", url=site.url()), site)
        assert sorted(all_of_them) == ["/", "/a", "/b?x=1", "/listed", "/stored"]
        assert all_of_them[0] == "/"
        assert set(asked(site)[before:]) <= {"/", "/map.xml"}
        assert paths(desk.post("/map", url=site.url(), search="kettle"), site) == ["/stored"]
        assert sorted(paths(desk.post("/map", url=site.url(), sitemap="only"), site)) == ["/a", "/listed"]
        assert "/b" in paths(desk.post("/map", url=site.url(), ignore_query=True), site)
        assert len(paths(desk.post("/map", url=site.url(), limit=2), site)) == 2
        # A key of another project does not see what this one has stored.
        other = desk.key(Scope.WRITE, desk.engine.project(None).id)
        assert "/stored" not in paths(desk.post("/map", other, url=site.url()), site)


def test_a_site_that_cannot_be_had_says_why(desk: Desk, site: Site) -> None:
    site.set_fault("/", status=404)
    with working(desk.engine):
        answer = desk.post("/map", url=site.url())
        assert (answer.status_code, answer.json()["reason"]) == (422, "not_found")
        assert desk.post("/map", url="http://169.254.169.254/").json()["reason"] == "egress"


@pytest.mark.slow
def test_a_map_is_no_baseline_of_crawls(desk: Desk, site: Site) -> None:
    lay(site, {"/": ["/a", "/b"], "/a": "<p>a", "/b": "<p>b"})
    project = desk.engine.project(site.url())
    first = desk.engine.run(desk.engine.start(project, config={"delay_seconds": 0}))
    with working(desk.engine):
        assert desk.post("/map", url=site.url(), project_id=str(project.id)).status_code == 200
    again = desk.engine.again(first)
    assert again.compared_to == UUID(str(first.id))


@pytest.mark.slow
def test_what_a_map_sees_of_its_site_is_not_remembered_for_other_pages(desk: Desk, site: Site) -> None:
    shell = "<title>App</title><div id=app></div>" + "<script src=/bundle.js></script>" * 3
    lay(site, {"/": shell, "/k": "<p>Words that the server sends."})
    with working(desk.engine):
        desk.post("/map", url=site.url(), timeout=5)
    (row,) = desk.engine.rows("SELECT learned FROM projects")
    assert "rendering" not in row["learned"]
