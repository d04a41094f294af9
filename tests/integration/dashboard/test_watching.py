"""A person at work, in a real browser: sign in, make a project, watch its crawl."""

import re

import pytest
from playwright.sync_api import APIResponse, Route, expect

from tests.integration.dashboard.house import House
from tests.site.client import Site


def test_a_person_signs_in_makes_a_project_and_watches_its_crawl_finish_without_a_reload(
    house: House, module_site: Site
) -> None:
    page = house.window()
    house.sign_in(page)
    page.get_by_role("link", name="More options").click()
    page.get_by_label("Address", exact=True).fill(module_site.url())
    page.get_by_text("Advanced", exact=True).click()
    page.get_by_label("Name", exact=True).fill("Watched")
    page.get_by_label("Delay between two requests to a host").fill("0")
    page.get_by_label("Use a browser", exact=True).select_option("never")
    page.get_by_role("button", name="Create and crawl").click()
    page.wait_for_url(re.compile("/crawls/"))
    page.evaluate("window.untouched = true")
    expect(page.get_by_text("Finished: the whole site was seen.")).to_be_visible()
    expect(page.get_by_role("heading", name="Who should be told when it changes?")).to_be_visible()
    assert page.evaluate("window.untouched"), "nobody reloaded the page"
    expect(page.locator("#recent tr.success a").first).to_be_visible()
    (row,) = house.engine.rows("SELECT pages_crawled FROM crawl_jobs")
    for counted in ("pages_crawled", "lightweight"):  # the last word is the record's, whatever was told before
        expect(page.locator(f'[data-live="{counted}"]')).to_have_text(str(row["pages_crawled"]))
    expect(page.locator("#answers")).to_contain_text("200 OK")
    page.get_by_role("link", name="See every URL").click()
    expect(page.locator("#rows .badge.ok").first).to_be_visible()
    page.get_by_label("Show", exact=True).select_option("failed")
    expect(page.get_by_text("No URL matches.")).to_be_visible()
    expect(page).to_have_url(re.compile(r"\?state=failed"))


@pytest.mark.slow
def test_a_crawl_that_ends_before_its_page_listens_still_shows_its_pages(house: House, module_site: Site) -> None:
    tools = house.engine.tools
    project = tools.projects.manage.create(name="Short", website_url=module_site.url())
    crawl_id = house.paused_crawl(project.id)
    page = house.window(house.key())
    page.route_web_socket(re.compile("/ws"), lambda socket: None)  # opened, and nothing ever comes
    page.goto(f"/crawls/{crawl_id}")
    expect(page.locator("#recent")).to_contain_text("The first pages appear here")
    told = {"url": module_site.url(), "status": "success", "reason": None, "http_status": 200, "depth": 1}
    tools.events.publish(crawl_id, "page", {**told, "title": "The only page"})
    tools.crawls.control.cancel(crawl_id)
    expect(page.get_by_text("The crawl was cancelled")).to_be_visible()
    expect(page.locator("#recent tr.success")).to_contain_text("The only page")


@pytest.mark.slow
def test_what_is_told_after_the_page_was_made_and_before_it_listens_is_shown_while_the_crawl_goes_on(
    house: House, module_site: Site
) -> None:
    tools = house.engine.tools
    project = tools.projects.manage.create(name="Quick", website_url=module_site.url())
    crawl_id = house.paused_crawl(project.id)
    told = {"url": module_site.url(), "status": "success", "reason": None, "http_status": 200, "depth": 1}
    page = house.window(house.key())
    page.route_web_socket(
        re.compile("/ws"), lambda socket: tools.events.publish(crawl_id, "page", {**told, "title": "Meanwhile"})
    )
    with page.expect_request(re.compile("/state$")):  # the badge may be older than its crawl, too
        page.goto(f"/crawls/{crawl_id}")
    expect(page.locator("#recent tr.success")).to_contain_text("Meanwhile")


@pytest.mark.slow
def test_the_link_that_up_prints_signs_in_once(house: House) -> None:
    key = house.engine.tools.store.find_key(house.key())
    assert key is not None
    ticket = house.engine.tools.operating.sessions.ticket(key.id)
    page = house.window()
    page.goto("/login")
    page.evaluate("ticket => { location.hash = ticket; }", ticket)  # pasted into a tab that is there already
    page.wait_for_url(f"{house.url}/")
    expect(page.get_by_label("Paste a URL")).to_be_visible()
    other = house.window()
    other.goto(f"/login#{ticket}")
    expect(other.get_by_text("This link was used already")).to_be_visible()
    house.mishaps.clear()  # the browser tells of the 401 itself


@pytest.mark.slow
def test_a_pause_is_seen_at_once_by_everybody_who_watches_and_the_buttons_work(house: House, module_site: Site) -> None:
    slow = {"render": "never", "delay_seconds": 5, "use_sitemaps": False}
    project = house.engine.tools.projects.manage.create(name="Slow", website_url=module_site.url(), settings=slow)
    crawl = house.engine.tools.crawls.start(project.id)
    worker, other = house.page(), house.window(house.key())
    for page in (worker, other):
        page.goto(f"/crawls/{crawl.id}")
        expect(page.locator("#state .badge.run")).to_be_visible()
        expect(page.locator("#hosts")).to_contain_text("127.0.0.1")
        page.evaluate("window.untouched = true")
    worker.get_by_role("button", name="Pause").click()
    expect(worker.get_by_text("Paused: no new request starts")).to_be_visible()
    expect(other.locator("#state .badge.pause")).to_be_visible()
    with other.expect_navigation():
        other.get_by_role("button", name="Resume").click()
    expect(worker.locator("#state .badge.run")).to_be_visible()
    worker.evaluate("window.untouched = true")
    expect(other.locator("#state .badge.run")).to_be_visible()
    other.get_by_role("button", name="Cancel").click()
    house.engine.tools.crawls.control.pause(crawl.id)
    expect(other.locator("#state .badge.pause")).to_be_visible()  # the button that was clicked is gone
    other.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(worker.get_by_text("The crawl was cancelled")).to_be_visible()
    assert worker.evaluate("window.untouched"), "nobody reloaded the page"
    assert house.engine.tools.store.get_crawl(crawl.id).status == "cancelled"


@pytest.mark.slow
def test_a_state_that_changes_while_it_is_asked_for_is_asked_for_again(house: House, module_site: Site) -> None:
    tools = house.engine.tools
    project = tools.projects.manage.create(name="Twice", website_url=module_site.url())
    crawl_id = house.paused_crawl(project.id)
    page = house.window(house.key())
    told: list[str] = []
    answers: list[tuple[Route, APIResponse]] = []

    def late(route: Route) -> None:
        answers.append((route, route.fetch()))

    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: told.append(str(frame))))
    page.route(re.compile("/state$"), late, times=1)
    page.goto(f"/crawls/{crawl_id}")
    with house.hands:
        tools.crawls.control.resume(crawl_id)
        house.until(lambda: len(answers) == 1, lambda: page.wait_for_timeout(50))
        told.clear()
        tools.crawls.control.pause(crawl_id)
        house.until(lambda: any('"status"' in one for one in told), lambda: page.wait_for_timeout(50))
        ((route, answer),) = answers
        route.fulfill(response=answer)
        expect(page.locator("#state .badge.pause")).to_be_visible()
        expect(page.get_by_role("button", name="Resume")).to_be_visible()


@pytest.mark.slow
def test_a_page_that_lost_its_connection_catches_up_by_itself(house: House, module_site: Site) -> None:
    tools = house.engine.tools
    project = tools.projects.manage.create(name="Lost", website_url=module_site.url())
    crawl_id = house.paused_crawl(project.id)

    def tell(title: str) -> None:
        told = {"url": module_site.url(), "status": "success", "reason": None, "http_status": 200, "depth": 1}
        tools.events.publish(crawl_id, "page", {**told, "title": title})

    tell("Before")
    page = house.page()
    page.goto(f"/crawls/{crawl_id}")
    expect(page.locator("#recent")).to_contain_text("Before")
    page.evaluate("window.untouched = true")
    house.until(lambda: house.hang_up() == 1, lambda: page.wait_for_timeout(50))
    tell("Meanwhile")
    tell("After")
    expect(page.locator("#recent tr.success")).to_have_count(3)
    assert page.locator("#recent .what").all_inner_texts() == ["After", "Meanwhile", "Before"]
    tools.crawls.control.cancel(crawl_id)
    expect(page.get_by_text("The crawl was cancelled")).to_be_visible()
    assert page.evaluate("window.untouched")
