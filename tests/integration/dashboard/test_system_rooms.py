"""Operators at work: see who works, hold a host, change a setting, make and revoke a key."""

import re
import time

import pytest
from playwright.sync_api import expect

from crawler.adapters.operating.live_workers import WorkerState
from crawler.domain.api_keys import Scope
from tests.integration.dashboard.house import (
    VIEWPORT,
    House,
    serious_violations,
    serious_violations_on_a_phone_at_night,
)
from tests.site.client import Site

pytestmark = pytest.mark.slow

NASTY = "<img src=x onerror=window.owned=1>\u202e"


@pytest.fixture(scope="module")
def host(module_house: House, module_site: Site) -> str:
    """One that was crawled, as politeness names it."""
    project = module_house.engine.tools.projects.manage.create(
        name=f"Site {NASTY[:30]}", website_url=module_site.url(), settings={"render": "never", "delay_seconds": 0}
    )
    crawl = module_house.engine.tools.crawls.start(project.id)
    module_house.until(lambda: module_house.engine.tools.store.get_crawl(crawl.id).status.is_over)
    return module_site.url().split("/")[2]


def test_servers_queues_and_workers_are_told_with_what_is_wrong(house: House) -> None:
    tools, now = house.engine.tools, time.time()
    workers = tools.operating.live_workers
    workers.announce("fetch-1@one", ["fetch"])
    workers.announce("render-2@two", ["render"], WorkerState(f"No Chromium {NASTY}"))
    tools.redis.hset(workers._key("ingest"), "w:gone-3@three", f"{round((now - 3600) * 1000)} able []")
    tools.operating.canaries.record_sent("fetch", now - 8, again=False)
    tools.operating.canaries.record_run("fetch", now - 7)
    tools.operating.canaries.record_sent("notify", now - 600, again=False)
    page = house.page()
    page.goto("/")
    page.get_by_role("link", name="System", exact=True).click()
    expect(page.get_by_text("All that is needed is there")).to_be_visible()
    expect(page.locator(".checks")).to_contain_text("Postgres answers.")
    expect(page.locator(".checks .weak", has_text="Beat")).to_contain_text("No beat keeps time.")
    rows = page.get_by_role("row")
    expect(rows.filter(has_text="fetches pages")).to_contain_text("1 worker")
    expect(rows.filter(has_text="sends mails")).to_contain_text("not for minutes")
    expect(rows.filter(has_text="render-2@two")).to_contain_text("unable")
    expect(page.locator("main")).not_to_contain_text("gone-3")
    assert page.evaluate("window.owned") is None
    assert "\u202e" not in page.content()
    flower = page.get_by_role("link", name="Flower").get_attribute("href")
    assert flower == f"http://127.0.0.1:{tools.settings.flower_port}/"
    expect(page.get_by_role("link", name="API Every path")).to_have_attribute("href", "/api/v1/docs")


def test_beat_is_there_as_long_as_it_holds_its_lock(house: House) -> None:
    from redbeat.schedulers import ensure_conf, get_redis  # noqa: PLC0415 - slow, and needed here alone

    tools = house.engine.tools
    assert not tools.notices.beat_entries.is_beating()
    lock = ensure_conf(tools.celery).lock_key
    get_redis(tools.celery).set(lock, "held", ex=30)
    try:
        assert tools.notices.beat_entries.is_beating()
    finally:
        get_redis(tools.celery).delete(lock)


def test_a_host_is_paused_slowed_down_denied_and_let_go_again(house: House, host: str) -> None:
    tools, page = house.engine.tools, house.page()
    page.goto("/system/hosts")
    row = page.locator("#rows tr", has_text=host)
    expect(row).to_contain_text("Asked")
    row.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("No crawl requests pages from this host until you resume it")).to_be_visible()
    assert tools.hosts.describe.one(host).paused
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    assert not tools.hosts.describe.one(host).paused
    page.get_by_label("An operator asks for at least").fill("many")
    page.get_by_role("button", name="Set").click()
    expect(page.locator("#seconds-wrong")).to_have_text("This is not a number of seconds.")
    page.get_by_label("An operator asks for at least").fill("4000")
    page.get_by_role("button", name="Set").click()
    expect(page.locator("#seconds-wrong")).to_contain_text("from 0 to 3600 seconds")
    house.mishaps.clear()  # the browser tells of each 422 itself
    page.get_by_label("An operator asks for at least").fill("2,5")
    page.get_by_role("button", name="Set").click()
    expect(page.get_by_text("All crawls keep this delay")).to_be_visible()
    assert tools.hosts.describe.one(host).operator_seconds == 2.5
    page.get_by_role("button", name="Deny").click()
    page.get_by_role("dialog").get_by_role("button", name="Deny").click()
    expect(page.locator("h1 .badge")).to_have_text("Denied")
    assert tools.hosts.store.is_denied(host)
    page.get_by_role("button", name="Allow again").click()
    expect(page.locator("h1 .badge")).to_have_text("Asked")
    assert not tools.hosts.store.is_denied(host)


def test_a_host_that_is_left_alone_says_why_and_for_how_long(house: House, host: str) -> None:
    house.engine.tools.frontier.block_host(host, 600, 30, 3)
    page = house.page()
    page.goto(f"/system/hosts/{host}")
    expect(page.locator(".note.warn")).to_contain_text("Left alone after 3 errors or complaints;")
    expect(page.locator(".note.warn")).to_contain_text(re.compile(r"(9 min \d\d s|10 min 00 s) left"))
    house.engine.tools.frontier.block_host(host, 0, 0, 0)
    page.goto("/system/hosts")
    page.get_by_role("searchbox", name="Find", exact=True).fill("never-met.example")
    page.get_by_role("link", name="Look at never-met.example all the same").click()
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("h1 .badge")).to_have_text("Paused")


def test_a_setting_is_stored_over_the_environment_and_taken_back(house: House) -> None:
    tools, page = house.engine.tools, house.page()
    page.goto("/system/settings")
    place = page.locator(".setting", has=page.get_by_label("Requests to one host, at most"))
    expect(place).to_contain_text("the default")
    expect(page.locator(".setting", has=page.get_by_label("User agent"))).to_contain_text("from the environment")
    page.get_by_label("Requests to one host, at most").fill("-1")
    page.get_by_label("User agent").fill("bot\u00fc")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator("#requests_per_host_hour-wrong")).to_have_text("At least 0.")
    expect(page.locator("#user_agent-wrong")).to_have_text("Only plain ASCII letters and signs.")
    house.mishaps.clear()  # the browser tells of the 422 itself
    page.get_by_label("Requests to one host, at most").fill("1800")
    page.get_by_label("User agent").fill("")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Saved. Changes apply within 15 seconds.")).to_be_visible()
    expect(place).to_contain_text("set here")
    assert tools.current_settings.look().requests_per_host_hour == 1800
    page.get_by_label("Requests to one host, at most").fill("")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(place).to_contain_text("the default")
    assert tools.runtime_settings.read().requests_per_host_hour is None


def test_a_key_is_shown_once_works_as_far_as_it_may_and_is_revoked(house: House, host: str) -> None:
    tools, page = house.engine.tools, house.page()
    page.goto("/system/keys")
    page.get_by_label("Name", exact=True).fill(NASTY.replace("\u202e", ""))
    page.get_by_label("Limit this key to selected projects").check()
    page.get_by_role("button", name="Create the key").click()
    expect(page.get_by_text("Choose at least one project")).to_be_visible()
    house.mishaps.clear()  # the browser tells of the 422 itself
    page.get_by_label("Site ").check()
    page.get_by_role("button", name="Create the key").click()
    secret = page.get_by_label("The new key").input_value()
    made = tools.store.find_key(secret)
    assert made is not None
    assert (made.scope, len(made.project_ids or ())) == (Scope.READ, 1)
    assert page.evaluate("window.owned") is None
    page.goto("/system/keys")
    assert secret not in page.content()
    page.get_by_role("row").filter(has_text=made.hint).get_by_role("button", name="Revoke").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("The key was revoked")).to_be_visible()
    assert tools.store.find_key(secret) is None


def test_everybody_can_use_every_page_at_any_width(house: House, host: str) -> None:
    """`test_every_page.py` looks at the other rooms."""
    page = house.page()
    for path in (f"/system/hosts/{host}", "/system/keys"):
        page.set_viewport_size(VIEWPORT)
        page.goto(path)
        assert serious_violations(page) == [], path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        assert serious_violations_on_a_phone_at_night(page) == [], path


def test_only_keys_that_may_steer_everything_get_in(house: House, host: str) -> None:
    (project,) = [row for row in house.engine.tools.projects.overview() if row.name.startswith("Site")]
    for secret in (house.key(Scope.WRITE), house.key(Scope.ADMIN, project.id)):
        page = house.window(secret)
        page.goto("/")
        expect(page.get_by_role("link", name="System", exact=True)).to_have_count(0)
        for path in ("/system", "/system/hosts", f"/system/hosts/{host}", "/system/settings", "/system/keys"):
            answer = page.goto(path)
            assert answer is not None
            assert answer.status == 403, path
            expect(page.locator("main")).to_contain_text("scope admin")
    house.mishaps.clear()  # the browser tells of each 403 itself
