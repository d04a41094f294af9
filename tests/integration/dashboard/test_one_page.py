"""One page: everything that is known of it, its versions side by side, its source as text, its links both ways."""

import re

import pytest
from playwright.sync_api import expect

from crawler.adapters.pages.neighbours import PageNeighbours
from tests.integration.dashboard.house import PHONE, House, serious_violations_day_and_night
from tests.integration.dashboard.museum import Visited, visited
from tests.site.client import Site

pytestmark = pytest.mark.slow

PAGES = ("", "/markdown", "/source", "/versions", "/links", "/links-in", "/diff", "/diff?view=inline&whole=true")


@pytest.fixture(scope="module")
def museum(module_house: House, module_site: Site) -> Visited:
    return visited(module_house, module_site, "Museum of pages")


@pytest.fixture(scope="module")
def nasty(module_house: House, module_site: Site, museum: Visited) -> str:
    """The page whose title is a script."""
    (row,) = module_house.engine.rows(
        "SELECT id FROM crawled_pages WHERE project_id = :project AND url = :url",
        project=museum.project, url=module_site.url("/lens"),
    )  # fmt: skip
    return f"/projects/{museum.project}/pages/{row['id']}"


@pytest.mark.parametrize("room", PAGES)
def test_everybody_can_use_it_and_nothing_crawled_comes_alive(house: House, nasty: str, room: str) -> None:
    page = house.page({"width": 1280, "height": 900})
    answer = page.goto(nasty + room)
    assert answer is not None
    assert answer.status == 200
    assert serious_violations_day_and_night(page) == []
    assert page.evaluate("window.owned") is None
    assert page.locator("main img, main svg[onload], main script, main iframe").count() == 0
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_person_reads_a_page_its_source_and_what_it_was(house: House, museum: Visited) -> None:
    page = house.page()
    page.goto(f"/projects/{museum.project}/pages")
    page.get_by_role("link", name="Prices", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Prices")
    expect(page.locator(".reading")).to_contain_text("Adults pay 13 euros")
    expect(page.locator(".facts")).to_contain_text("linked from")
    tabs = page.get_by_role("navigation", name="Page")
    tabs.get_by_role("link", name="Markdown").click()
    expect(page.locator(".reading")).to_contain_text("# Prices")
    tabs.get_by_role("link", name="Source").click()
    expect(page.locator(".reading")).to_contain_text('<p class="text">Adults pay 13')
    with page.expect_download() as download:
        page.get_by_role("link", name="Download HTML").click()
    assert b"Adults pay 13" in download.value.path().read_bytes()
    tabs.get_by_role("link", name="Versions").click()
    expect(page.locator("#rows tr")).to_have_count(2)
    page.get_by_role("button", name="Compare the chosen two").click()
    expect(page.locator(".edits tr.edit", has_text="Adults pay").locator("td.new ins")).to_have_text("13")
    page.goto(f"/projects/{museum.project}/pages/{museum.prices}/versions")
    page.locator("#rows tr").last.get_by_role("link", name="Source").click()
    expect(page.locator(".reading")).to_contain_text("Adults pay 11")
    expect(page.get_by_text("This is an earlier version of the page.")).to_be_visible()
    expect(page.locator("footer.foot")).not_to_contain_text("None")


def test_versions_that_are_named_in_the_wrong_order_are_told_in_the_order_of_time(
    house: House, museum: Visited
) -> None:
    newest, oldest = house.engine.tools.pages.content.list_versions(museum.project, museum.prices, None, 2)
    page = house.page()
    page.goto(f"/projects/{museum.project}/pages/{museum.prices}/diff?from={newest.id}&to={oldest.id}")
    expect(page.locator(".edits td.old del").first).to_have_text("11")


def test_links_lead_both_ways_with_their_words(house: House, museum: Visited) -> None:
    page = house.page()
    page.goto(f"/projects/{museum.project}/pages/{museum.prices}/links")
    lens = page.locator("tbody tr", has_text="/lens")
    expect(lens).to_contain_text("a page of this project")
    expect(lens.locator("td").first).to_have_text("lens")
    page.get_by_role("link", name="Look for pages that link here").click()
    expect(page.locator(".linking")).to_contain_text("/hours")
    expect(page.get_by_text("and that is all")).to_be_visible()
    lens.get_by_role("link", name="/lens", exact=True).click()
    expect(page.locator(".facts")).to_contain_text("linked from")
    page.get_by_role("navigation", name="Page").get_by_role("link", name="Links").click()
    page.get_by_role("link", name="Look for pages that link here").click()
    expect(page.locator(".linking li")).to_have_count(1)
    expect(page.locator(".linking")).to_contain_text("Prices")


def test_who_links_here_is_looked_for_part_by_part_and_every_page_is_looked_at_once(
    house: House, museum: Visited, module_site: Site
) -> None:
    engine = house.engine.tools.database
    whole = PageNeighbours(engine).incoming(museum.project, museum.prices, [module_site.url("/prices")], None)
    assert len(whole.pages) > 4
    assert whole.looked_until is None
    reader = PageNeighbours(engine, most_looked_at=3)
    found, after, looked = [], None, 0
    while True:
        part = reader.incoming(museum.project, museum.prices, [module_site.url("/prices")], after)
        found += part.pages
        looked += part.looked_at
        if part.looked_until is None:
            break
        after = part.looked_until
    assert found == whole.pages
    assert looked == whole.looked_at


def test_a_page_of_which_nothing_was_stored_says_so_everywhere(house: House, museum: Visited) -> None:
    (row,) = house.engine.rows(
        "INSERT INTO crawled_pages (id, project_id, url, normalized_url, status, reason, error_message) "
        "VALUES (gen_random_uuid(), :p, :u, :u, 'failed', 'timeout', 'It took <b>too</b> long') RETURNING id",
        p=museum.project, u="http://slow.example/",
    )  # fmt: skip
    page = house.page()
    said = {"": "It took <b>too</b> long", "/markdown": "Nothing of this page was stored", "/source": "Nothing of this"}
    said |= {"/versions": "No version is kept", "/links": "There are none.", "/diff": "One version so far"}
    for room in PAGES:
        answer = page.goto(f"/projects/{museum.project}/pages/{row['id']}{room}")
        assert answer is not None
        assert answer.status == 200, room
        expect(page.locator("main")).to_contain_text(said.get(room, ""))
    house.engine.rows("DELETE FROM crawled_pages WHERE id = :id RETURNING 1", id=row["id"])


def test_a_page_of_another_project_is_not_found_under_this_one(house: House, museum: Visited) -> None:
    other = house.engine.project("http://other.example/")
    page = house.page()
    for room in PAGES:
        answer = page.goto(f"/projects/{other.id}/pages/{museum.prices}{room}")
        assert answer is not None
        assert answer.status == 404, room
    version = house.engine.tools.pages.content.list_versions(museum.project, museum.prices, None, 1)[0].id
    (storm,) = house.engine.rows(
        "SELECT id FROM crawled_pages WHERE project_id = :p AND title = 'A great storm'", p=museum.project
    )
    answer = page.goto(f"/projects/{museum.project}/pages/{storm['id']}/diff?from={version}&to={version}")
    assert answer is not None
    assert answer.status == 404, "a version belongs to one page"
    house.mishaps[:] = [said for said in house.mishaps if not re.search("404", said)]
