"""A person sets a schedule: the next runs change while typing, mistakes are told in place, a run starts at once."""

import re
from datetime import timedelta
from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from crawler.domain.api_keys import Scope
from crawler.domain.crawls.crawl import CrawlType
from crawler.domain.crawls.project import Project
from crawler.domain.notices.schedule import SlotOutcome
from tests.integration.dashboard.house import PHONE, House, serious_violations, serious_violations_day_and_night
from tests.site.client import Site

pytestmark = pytest.mark.slow

SUMMARY = {
    "compared_to": "01890a5d-ac96-774b-bcce-b302099a8057",
    "summary": {"new_pages": 6, "changed_pages": 1, "removed_pages": 0, "unchanged_pages": 30},
    "new_page_urls": [],
    "removed_page_urls": [],
    "changed_page_urls": [],
    "is_significant": True,
}
COMPARED = "SELECT 1 FROM crawl_jobs WHERE id = :id AND diffed_at IS NOT NULL"
NASTY = '<img src=x onerror="window.owned=1"> \u202e'


@pytest.fixture
def project(house: House, module_site: Site, request: pytest.FixtureRequest) -> Project:
    settings = {"render": "never", "delay_seconds": 0, "use_sitemaps": False}
    return house.engine.tools.projects.manage.create(
        name=request.node.name[:150], website_url=module_site.url(), settings=settings
    )


def opened(house: House, project: Project) -> Page:
    page = house.page()
    page.goto(f"/projects/{project.id}/schedule")
    return page


def runs(page: Page) -> list[str]:
    return page.locator("#runs .runs li > time").all_inner_texts()


def test_five_runs_in_the_zone_of_whoever_makes_it_change_while_typing_and_are_kept(
    house: House, project: Project
) -> None:
    page = house.window(house.key(), timezone_id="America/New_York")
    page.goto(f"/projects/{project.id}/schedule")
    expect(page.get_by_label("Time zone")).to_have_value("America/New_York")
    expect(page.locator("#runs")).to_contain_text("Every day at 06:00 (America/New_York)")
    expect(page.locator("#runs .runs li")).to_have_count(5)
    assert all("06:00" in run for run in runs(page))
    page.get_by_label("Weekly", exact=True).check()
    expect(page.locator("#runs")).to_contain_text("Every Monday at 06:00")
    assert all(run.startswith("Mon") for run in runs(page))
    page.get_by_label("Time", exact=True).fill("21:45")
    expect(page.locator("#runs .runs li").first).to_contain_text("21:45")
    page.get_by_label("Monthly", exact=True).check()
    page.get_by_label("Day of the month").fill("28")
    expect(page.locator("#runs")).to_contain_text("On day 28 of each month at 21:45")
    assert all(re.search(r"\b28 \w{3} \d{4} 21:45", run) for run in runs(page))
    page.get_by_label("Cron", exact=True).check()
    page.get_by_label("Cron expression").fill("0 */6 * * *")
    expect(page.locator("#runs")).to_contain_text("By cron 0 */6 * * *")
    assert house.engine.tools.notices.schedules.find(project.id) is None, "nothing was saved yet"
    page.get_by_role("button", name="Save the schedule").click()
    expect(page.get_by_text("The schedule is on.")).to_be_visible()
    kept = house.engine.tools.notices.set_schedule.get(project.id)
    assert (kept.config.cron, kept.config.timezone, kept.config.enabled) == ("0 */6 * * *", "America/New_York", True)
    assert kept.next_run_at is not None


def test_a_mistake_is_told_beside_its_field_while_typing_and_again_when_saved(house: House, project: Project) -> None:
    page = opened(house, project)
    page.get_by_label("Time", exact=True).fill("25:00")
    expect(page.locator("#time-wrong")).to_have_text("A time of day looks like 09:30, from 00:00 to 23:59.")
    expect(page.get_by_label("Time", exact=True)).to_have_attribute("aria-invalid", "true")
    expect(page.locator("#runs")).to_contain_text("as soon as the fields make sense")
    page.get_by_label("Time", exact=True).fill("07:15")
    expect(page.locator("#time-wrong")).to_be_hidden()
    expect(page.get_by_label("Time", exact=True)).not_to_have_attribute("aria-invalid", "true")
    page.get_by_label("Time zone").fill("berlin")
    expect(page.locator("#timezone-wrong")).to_contain_text("did you mean Europe/Berlin?")
    page.get_by_label("Time zone").fill("Europe/Berlin")
    page.get_by_label("Mail to").fill("nobody")
    expect(page.locator("#notification_email-wrong")).to_contain_text("name@example.org")
    expect(page.locator("#runs .runs li")).to_have_count(5)  # its times make sense all the same
    page.get_by_label("Webhook").fill("http://169.254.169.254/latest")
    page.get_by_label("Mail to").fill("ops@example.org")
    expect(page.locator("#runs .note.warn")).to_contain_text("No mail can be sent")
    page.get_by_role("button", name="Save the schedule").click()
    expect(page.locator("#notification_webhook-wrong")).to_contain_text("may not be reached from here")
    expect(page.get_by_label("Time", exact=True)).to_have_value("07:15")
    assert house.engine.tools.notices.schedules.find(project.id) is None
    assert serious_violations(page) == []
    house.mishaps.clear()  # the browser tells of the 422 itself


def test_a_first_save_that_is_refused_marks_its_field_in_every_time_zone(house: House, project: Project) -> None:
    page = house.window(house.key(), timezone_id="America/New_York")
    page.goto(f"/projects/{project.id}/schedule")
    page.get_by_label("Time zone").fill("UTC")
    page.get_by_label("Webhook").fill("http://169.254.169.254/latest")
    expect(page.locator("#notification_webhook-wrong")).to_contain_text("may not be reached from here")
    page.get_by_role("button", name="Save the schedule").click()
    expect(page.get_by_role("alert")).to_contain_text("1 field needs another look")
    page.wait_for_load_state("networkidle")
    expect(page.locator("#notification_webhook-wrong")).to_contain_text("may not be reached from here")
    expect(page.get_by_label("Time zone")).to_have_value("UTC")
    house.mishaps.clear()  # the browser tells of the 422 itself


def test_everything_that_can_be_told_is_kept_and_a_mask_keeps_what_it_hides(house: House, project: Project) -> None:
    tools = house.engine.tools
    secret = "gotify://127.0.0.1/secret-token"
    tools.notices.set_schedule(project.id, {"enabled": True, "frequency": "daily", "notification_urls": [secret]})
    page = opened(house, project)
    assert "secret-token" not in page.content()
    mask = page.get_by_label("Other channels").input_value()
    assert mask.startswith("gotify://…")
    page.get_by_label("Significant: new pages, at least").fill("3")
    page.get_by_label("or changed pages, at least").fill("2.5")
    page.get_by_label("When", exact=True).select_option("any")
    expect(page.get_by_label("Significant: new pages, at least")).to_be_hidden()
    page.get_by_label("Report failing crawls after").fill("7")
    page.get_by_text("Time window, spread").click()
    page.get_by_label("Only from").fill("22:00")
    page.get_by_label("Only until").fill("06:00")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The schedule is on.")).to_be_visible()
    kept = tools.notices.set_schedule.get(project.id).config
    assert (kept.notify_on, kept.notify_after_failures, kept.window) == ("any", 7, ("22:00", "06:00"))
    assert tools.notices.schedules.notification_urls(project.id) == (secret,)
    settings = tools.store.get_project(project.id).settings
    assert (settings.significant_new_pages, settings.significant_changed_share) == (3, 0.025)


def test_a_webhook_that_is_gone_stays_gone_until_somebody_says_that_it_works_again(
    house: House, project: Project
) -> None:
    tools, hook = house.engine.tools, "http://127.0.0.1:9/hook"
    tools.notices.set_schedule(project.id, {"enabled": True, "frequency": "daily", "notification_webhook": hook})
    tools.notices.schedules.webhook_gone(project.id, hook, tools.clock())
    page = opened(house, project)
    expect(page.get_by_text("answered 410 (gone)")).to_be_visible()
    page.get_by_label("Time", exact=True).fill("05:00")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The schedule is on.")).to_be_visible()
    assert tools.notices.set_schedule.get(project.id).webhook_gone_at is not None
    page.get_by_label("It works again").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("answered 410 (gone)")).not_to_be_visible()
    assert tools.notices.set_schedule.get(project.id).webhook_gone_at is None


def test_run_now_starts_a_scheduled_crawl_and_the_switch_keeps_everything_else(house: House, project: Project) -> None:
    tools = house.engine.tools
    before = tools.notices.set_schedule(
        project.id, {"enabled": True, "frequency": "weekly", "day_of_week": 4, "time": "11:11"}
    )
    page = opened(house, project)
    expect(page.get_by_role("link", name="Atom feed")).to_have_attribute("href", f"/projects/{project.id}/subscribe")
    page.get_by_role("button", name="Turn off").click()
    expect(page.get_by_text("The schedule is off; its settings are kept.")).to_be_visible()
    expect(page.locator("#runs")).to_contain_text("the times it would run")
    assert tools.notices.set_schedule.get(project.id).next_run_at is None
    page.get_by_role("button", name="Turn on").click()
    expect(page.get_by_role("button", name="Turn off")).to_be_visible()
    assert tools.notices.set_schedule.get(project.id).config == before.config
    page.get_by_role("button", name="Crawl now").click()
    page.wait_for_url(re.compile("/crawls/"))
    crawl = tools.store.get_crawl(UUID(page.url.split("/crawls/")[1].partition("?")[0]))
    assert crawl.project_id == project.id
    expect(page.get_by_text("Finished: the whole site was seen.")).to_be_visible()


@pytest.fixture
def eventful(house: House, project: Project) -> Project:
    """Two crawls that were compared, one of them told of with a nasty error, and slots that were passed over."""
    tools, engine = house.engine.tools, house.engine
    kept = tools.notices.set_schedule(project.id, {"enabled": True, "frequency": "daily"})
    for days, new in ((3, 6), (2, 0)):
        crawl = tools.crawls.start(project.id, crawl_type=CrawlType.SCHEDULED)
        house.until(lambda crawl_id=crawl.id: bool(engine.rows(COMPARED, id=crawl_id)))  # type: ignore[misc]
        counts = {**SUMMARY["summary"], "new_pages": new}  # type: ignore[dict-item]
        tools.store.save_diff(crawl.id, {**SUMMARY, "summary": counts, "is_significant": new > 4}, None)
        slot = tools.clock() - timedelta(days=days)
        engine.rows(
            "UPDATE crawl_jobs SET started_at = :at, completed_at = CAST(:at AS timestamptz) + interval '90 s', "
            "error_message = :error WHERE id = :id RETURNING id",
            at=slot, id=crawl.id, error=NASTY,
        )  # fmt: skip
        tools.notices.schedules.take_slot(kept.id, slot)
        tools.notices.schedules.end_slot(kept.id, slot, SlotOutcome.STARTED, crawl.id)
    for hours, outcome in ((20, SlotOutcome.SKIPPED_OVERLAP), (10, SlotOutcome.INACTIVE)):
        slot = tools.clock() - timedelta(hours=hours)
        tools.notices.schedules.take_slot(kept.id, slot)
        tools.notices.schedules.end_slot(kept.id, slot, outcome, None)
    return project


def test_runs_stand_in_a_table_and_in_plots_that_say_the_same(house: House, eventful: Project) -> None:
    page = opened(house, eventful)
    rows = page.locator("#history-table tbody tr")
    expect(rows).to_have_count(4)
    expect(rows.nth(0)).to_contain_text("the project was inactive")
    expect(rows.nth(1)).to_contain_text("the crawl before still ran")
    expect(rows.nth(3)).to_contain_text("1 min 30 s")
    expect(page.locator("#history-plots canvas")).to_have_count(3)
    expect(page.locator("#history-plots figcaption").nth(1)).to_contain_text("1 ·")
    assert "onerror" in rows.nth(3).inner_text()
    assert page.locator("main img").count() == 0
    assert "\u202e" not in page.content()
    assert page.evaluate("window.owned") is None
    assert serious_violations_day_and_night(page) == []
    page.set_viewport_size(PHONE)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert serious_violations_day_and_night(page) == []


def test_other_thresholds_are_tried_on_past_crawls_while_typing(house: House, eventful: Project) -> None:
    page = opened(house, eventful)
    page.get_by_role("link", name="Try thresholds and conditions on past crawls").click()
    trials = page.locator("#trials")
    expect(trials).to_contain_text("told of 1 of 2 crawls")
    page.get_by_label("Significant: new pages, at least").fill("7")
    expect(trials).to_contain_text("told of 0 of 2 crawls")
    page.get_by_label("Tell when").select_option("any")
    expect(trials).to_contain_text("told of 2 of 2 crawls")
    page.get_by_label("or changed pages, at least").fill("many")
    expect(trials.locator(".wrong")).to_contain_text("not a number")
    assert serious_violations(page) == []
    assert house.engine.tools.store.get_project(eventful.id).settings.significant_new_pages == 5, "nothing was saved"


def test_who_may_only_read_sees_the_schedule_and_no_way_to_change_it(house: House, eventful: Project) -> None:
    page = house.window(house.key(Scope.READ))
    page.goto(f"/projects/{eventful.id}/schedule")
    expect(page.locator("#runs .runs li")).to_have_count(5)
    expect(page.get_by_label("Time", exact=True)).to_be_disabled()
    for name in ("Save", "Crawl now", "Turn off"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
