"""A person sees that a crawl saw too little of the site, wherever they look at it."""

import pytest
from playwright.sync_api import expect

from tests.integration.dashboard.house import PHONE, House, serious_violations_day_and_night
from tests.integration.handmade import lay, page
from tests.site.client import Site

pytestmark = pytest.mark.slow

TEXT = "<p>This is all about {0}: how it is made, who makes it, and what it costs when it is new.</p><p>Ask {0}!</p>"
PATHS = [f"/intern/p{n}" for n in range(4)] + [f"/p{n}" for n in range(3)]
SAID = "Only 4 of 8 pages could be compared, because 4 below /intern/ were refused (401, 403 or the like)."


def test_a_crawl_that_saw_too_little_says_so_on_each_page(house: House, module_site: Site) -> None:
    engine, site = house.engine, module_site
    lay(site, {"/": page(*PATHS, title="Home", body=TEXT.format("home"))})
    lay(site, {path: page(title=path, body=TEXT.format(path)) for path in PATHS})
    project = engine.project(site.url(), use_sitemaps=False, delay_seconds=0)
    with house.hands:
        engine.run(engine.start(project))
        for path in PATHS[:4]:
            site.set_fault(path, status=403)
        blind = engine.run(engine.start(project))
    tab = house.page({"width": 1280, "height": 900})
    for path in (f"/crawls/{blind.id}/changes", f"/crawls/{blind.id}", f"/projects/{project.id}"):
        tab.set_viewport_size({"width": 1280, "height": 900})
        tab.goto(path)
        expect(tab.locator("main")).to_contain_text(SAID)
        expect(tab.locator("main").get_by_text("Saw too little").first).to_be_visible()
        assert serious_violations_day_and_night(tab) == []
        tab.set_viewport_size(PHONE)
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
    tab.goto("/")
    expect(tab.locator("main").get_by_text("Saw too little").first).to_be_visible()
