"""Readers look for something: documents of a project, one with its chunks, and search with marked words."""

from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import expect

from crawler.adapters.documents.listing import DocumentFilter
from tests.integration.dashboard.house import PHONE, House, serious_violations, serious_violations_day_and_night
from tests.integration.handmade import lay, page
from tests.site.client import Site

pytestmark = pytest.mark.slow

HOSTILE = "<script>window.owned=1</script><mark>not ours</mark> \u202eturned"


@pytest.fixture(scope="module")
def library(module_house: House, module_site: Site) -> dict[str, Any]:
    """A project with documents, one of them of a page that is gone, and one without any."""
    prose = "The lighthouse keeper counts the ships that pass the harbour every morning. "
    body = f"<h1>Harbour</h1><p>{prose * 3}</p><h2>Ships</h2><p>Some carry salt.</p><h2>Gulls</h2><p>They shout.</p>"
    lay(
        module_site,
        {
            "/": page(
                "/harbour", "/hostile", "/gone", body="<h1>Home</h1><p>Words about nothing much.</p>", title="Home"
            ),
            "/harbour": page(body=body, title="The harbour"),
            "/hostile": page(
                body=f"<h1>Hostile salt</h1><p>{HOSTILE.replace('<', '&lt;')} anchors</p>",
                title=HOSTILE.replace("<", "&lt;"),
            ),
            "/gone": page(body="<h1>Gone</h1><p>It will not stay.</p>", title="Soon gone"),
        },
    )
    tools = module_house.engine.tools
    quick = {"render": "never", "delay_seconds": 0, "use_sitemaps": False}
    project = tools.projects.manage.create(
        name="Library", website_url=module_site.url(), settings={**quick, "ingest": True}
    )
    bare = tools.projects.manage.create(name="No documents", website_url=module_site.url(), settings=quick)
    crawl = tools.crawls.start(project.id)
    module_house.until(lambda: tools.store.get_crawl(crawl.id).status.is_over)
    tools.documents.ingest()
    module_house.engine.rows("UPDATE documents SET deleted_at = now() WHERE url LIKE '%/gone' RETURNING id")
    found = tools.documents.listing(project.id, DocumentFilter(), None, 50)
    return {"project": project.id, "bare": bare.id, "documents": {one.url.rpartition("/")[2]: one for one in found}}


def test_documents_are_listed_with_their_chunks_and_tombstones(house: House, library: dict[str, Any]) -> None:
    window = house.page()
    window.goto(f"/projects/{library['project']}")
    window.get_by_role("link", name="Documents").click()
    rows = window.locator("#rows tr")
    expect(rows).to_have_count(4)
    expect(rows.filter(has_text="Soon gone")).to_contain_text("Removed")
    expect(rows.filter(has_text="The harbour")).to_contain_text("Ready")
    window.get_by_label("Show").select_option("removed")
    expect(rows).to_have_count(1)
    window.get_by_label("Show").select_option("")
    window.get_by_label("Path begins with").fill("/har")
    expect(rows).to_have_count(1)
    rows.get_by_role("link", name="The harbour").click()
    chunks = window.locator(".chunk")
    expect(chunks.filter(has_text="Some carry salt")).to_contain_text("Harbour › Ships")
    assert serious_violations(window) == []
    window.get_by_role("link", name="its page, versions and links").click()
    expect(window.get_by_role("heading", level=1)).to_contain_text("The harbour")


def test_search_finds_while_typing_and_marks_the_words(house: House, library: dict[str, Any]) -> None:
    window = house.page()
    window.goto(f"/projects/{library['project']}/documents")
    window.get_by_label("Search in its documents").fill("salt ship")
    hit = window.locator(".hit").filter(has_text="The harbour")
    expect(hit.locator("mark").filter(has_text="salt")).to_be_visible()
    assert "/search?q=salt" in window.url
    window.reload()
    expect(window.get_by_label("Search in its documents")).to_have_value("salt ship")
    hit.get_by_role("link", name="The harbour").click()
    expect(window.locator(".chunk:target")).to_contain_text("Some carry salt")
    window.goto(f"/projects/{library['project']}/search?q=zeppelin")
    expect(window.get_by_role("heading", name="Nothing was found")).to_be_visible()


def test_what_hostile_pages_say_is_found_as_text_and_only_ours_is_marked(house: House, library: dict[str, Any]) -> None:
    window = house.page()
    window.goto(f"/projects/{library['project']}/search?q=anchors")
    hit = window.locator(".hit")
    expect(hit).to_contain_text("<script>window.owned=1</script>")
    assert hit.locator("mark").all_inner_texts() == ["anchors"]
    assert "\u202e" not in window.content()
    window.goto(f"/projects/{library['project']}/documents/{library['documents']['hostile'].id}")
    expect(window.locator(".chunk").first).to_contain_text("<script>window.owned=1</script>")
    assert window.evaluate("window.owned") is None
    assert "\u202e" not in window.content()


def test_without_documents_it_says_how_to_get_some(house: House, library: dict[str, Any]) -> None:
    window = house.page()
    for path in ("documents", "search"):
        window.goto(f"/projects/{library['bare']}/{path}")
        expect(window.locator(".empty")).to_contain_text("Make a searchable document of each page")
        window.get_by_role("link", name="To its settings").click()
        expect(window.get_by_label("Make a searchable document of each page")).to_be_visible()


def test_a_document_of_another_project_does_not_exist(house: House, library: dict[str, Any]) -> None:
    window = house.page()
    one: UUID = library["documents"]["harbour"].id
    answer = window.goto(f"/projects/{library['bare']}/documents/{one}")
    assert answer is not None
    assert answer.status == 404
    house.mishaps.clear()  # the browser tells of the 404 itself


@pytest.mark.parametrize("path", ["documents", "documents/{one}", "search?q=salt", "search?q=zeppelin"])
def test_a_phone_shows_it_and_everybody_can_use_it(house: House, library: dict[str, Any], path: str) -> None:
    window = house.page(PHONE)
    named = path.format(one=library["documents"]["hostile"].id)
    window.goto(f"/projects/{library['project']}/{named}")
    assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert serious_violations_day_and_night(window) == []
