"""A person at home, in a real browser: from a pasted address to a change that is read, accepted and told."""

import re

import pytest
from playwright.sync_api import expect

from tests.integration.dashboard.house import PHONE, House, serious_violations_day_and_night
from tests.integration.dashboard.museum import crawl, pages, visited
from tests.integration.handmade import lay
from tests.site.client import Site

pytestmark = pytest.mark.slow


def test_from_a_pasted_address_to_a_change_without_a_reload(house: House, module_site: Site) -> None:
    lay(module_site, pages(1))
    page = house.window(house.key(), timezone_id="Asia/Tokyo")
    page.goto("/")
    page.get_by_label("Paste a URL").fill(module_site.url("/prices").removeprefix("http://"))
    page.get_by_role("button", name="Watch this page").click()
    page.wait_for_url(re.compile("/crawls/"))
    expect(page.get_by_role("heading", name="Who should be told when it changes?")).to_be_visible()
    page.get_by_label("Service").select_option("ntfy")
    expect(page.locator("#channel-help")).to_contain_text("topic")
    page.get_by_label("Mail to").fill("me@example.org")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url(re.compile("/schedule"))
    expect(page.get_by_label("Time zone")).to_have_value("Asia/Tokyo")
    lay(module_site, pages(2))
    page.goto("/")
    page.get_by_role("button", name="Crawl now").first.click()
    page.wait_for_url(re.compile("/crawls/"))
    page.evaluate("window.untouched = true")
    expect(page.locator(".entry ins", has_text="13")).to_be_visible()
    assert page.evaluate("window.untouched"), "nobody reloaded the page"
    expect(page.locator("#recent tr.success a")).to_have_count(1)
    expect(page.locator(".outcome")).to_contain_text("1 changed since the crawl before")
    expect(page.locator("header .sub")).to_contain_text("by hand")
    page.get_by_role("link", name="See what changed").click()
    expect(page.get_by_title(re.compile("no longer waits for review"))).to_have_text("Accept")
    expect(page.locator("#judged")).to_contain_text("1 changed")


def test_changes_are_read_by_keys_and_found_by_letters(house: House, module_site: Site) -> None:
    museum = visited(house, module_site, "Museum by keys")
    page = house.page()
    page.goto("/?feed=all")
    entry = page.locator(f"#entry-{museum.second}")
    page.keyboard.press("j")
    while not entry.evaluate("one => one === document.activeElement"):
        page.keyboard.press("j")
    page.keyboard.press("r")
    expect(entry.get_by_role("button", name="Mark as unread")).to_be_visible()
    entry.get_by_role("button", name="Accept").click()
    expect(entry.get_by_text("Accepted")).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("museum by")
    expect(page.locator("#palette-found a", has_text="Museum by keys")).to_be_visible()
    assert serious_violations_day_and_night(page) == []
    page.keyboard.press("Escape")
    expect(page.locator("#palette")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.goto(f"/projects/{museum.project}")
    page.keyboard.press("/")
    page.keyboard.type("pric")
    expect(page.locator("#palette-found a[href*='/pages/']", has_text="Prices")).to_be_visible()
    page.keyboard.press("Escape")
    page.set_viewport_size(PHONE)
    for path in ("/", f"/crawls/{museum.second}", f"/crawls/{museum.second}/changes"):
        page.goto(path)
        page.wait_for_load_state("networkidle")
        if path == "/":
            page.locator("tbody .pick input").first.check()
            expect(page.get_by_role("button", name="Remove tag")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        assert serious_violations_day_and_night(page) == []


def test_what_was_typed_outlives_the_session(house: House) -> None:
    secret = house.key()
    page = house.window(secret)
    page.goto("/projects/new")
    page.get_by_label("Address", exact=True).fill("https://typed.example/")
    page.context.clear_cookies()
    page.get_by_role("button", name="Create without crawling").click()
    page.wait_for_url(re.compile("/login"))
    page.get_by_label("API key").fill(secret)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(re.compile("/projects/new"))
    expect(page.get_by_label("Address", exact=True)).to_have_value("https://typed.example/")
    expect(page.get_by_text("it is not saved yet")).to_be_visible()


def test_back_restores_a_list(house: House, module_site: Site) -> None:
    project = house.engine.tools.projects.manage.create(
        name="Long list",
        website_url=module_site.url(),
        settings={"render": "never", "delay_seconds": 0, "use_sitemaps": False},
    )
    lay(module_site, {"/": [f"/n{n}" for n in range(120)], **{f"/n{n}": [] for n in range(120)}})
    crawl(house, project.id)
    page = house.page()
    page.goto(f"/projects/{project.id}/pages")
    page.get_by_role("link", name="Show more").click()
    expect(page.locator("#rows tr:not(.more)")).to_have_count(100)
    page.locator("#rows tr").nth(90).scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    page.locator("#rows tr").nth(90).get_by_role("link").first.click()
    page.wait_for_url(re.compile("/pages/"))
    page.go_back()
    expect(page.locator("#rows tr:not(.more)")).to_have_count(100)
    page.wait_for_function("y => Math.abs(scrollY - y) < 60", arg=before)


def test_on_a_phone_all_ways_and_the_mute_menu_are_within_the_screen(house: House, module_site: Site) -> None:
    museum = visited(house, module_site, "Museum in a pocket")
    page = house.page(PHONE)
    page.goto(f"/projects/{museum.project}")
    page.get_by_text("Mute", exact=True).click()
    sheet = page.locator(".menu[open] .sheet")
    for shown in (sheet, *page.locator("nav.main a").all()):
        box = shown.bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
    expect(sheet.get_by_role("button", name="For a day")).to_be_visible()
