"""Conditions of a project and of recipients in the dashboard, tried on past crawls; and notices somebody knows of."""

from urllib.parse import urlencode

import pytest

from crawler.domain.crawls.crawl import CrawlType
from crawler.domain.ids import new_id
from crawler.domain.notices.notice import Channel, NoticeKind, Target
from crawler.domain.watching.rules import read_order
from tests.integration.dashboard.test_security import Visitor, client, visitor
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

__all__ = ["client", "visitor"]

SCHEDULE = {"enabled": "on", "frequency": "daily", "time": "06:00", "timezone": "UTC", "notify_on_changes": "on",
            "notify_on": "conditions", "notify_after_failures": "3"}  # fmt: skip
CONDITIONS = {"conditions": "contains <b>sale\nnew page", "conditions_match": "all", "conditions_pattern": "/news"}


@pytest.mark.slow
def test_conditions_of_a_project_are_kept_shown_and_taken_back(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project("http://shop.example/")
    room = f"/projects/{project.id}/schedule"
    wrong = visitor.post(room, {**SCHEDULE, "conditions": "whenever"})
    assert (wrong.status_code, "condition reads like" in wrong.text) == (422, True)
    assert visitor.post(room, {**SCHEDULE, **CONDITIONS}).status_code == 303
    kept = crawler.tools.notices.set_schedule.get(project.id).config.conditions
    assert kept is not None
    assert (kept.match, kept.pattern, [one.written for one in kept.of]) == (
        "all",
        "/news",
        ["contains <b>sale", "new page"],
    )
    shown = visitor.get(room).text
    assert "contains &lt;b&gt;sale\nnew page" in shown
    visitor.post(room, {**SCHEDULE, "conditions": ""})
    assert crawler.tools.notices.set_schedule.get(project.id).config.conditions is None


@pytest.mark.slow
def test_conditions_are_tried_on_past_crawls(crawler: Engine, site: Site, visitor: Visitor) -> None:
    lay(site, {"/": page(body="<p>One.</p>")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/": page(body="<p>One for sale.</p>")})
    crawler.again(first)
    room = f"/projects/{first.project_id}/schedule/backtest"

    def tried(**given: str) -> str:
        return visitor.get(f"{room}?{urlencode({'told': 'conditions', **given})}").text

    assert "<strong>1 of 1 crawl</strong>" in tried(conditions="contains sale")
    assert "<strong>0 of 1 crawl</strong>" in tried(conditions="contains sale", conditions_pattern="/news")
    assert "<strong>0 of 1 crawl</strong>" in tried(conditions="contains sale\nnew page", conditions_match="all")
    assert "condition reads like" in tried(conditions="perhaps")


@pytest.mark.slow
def test_a_notice_is_acknowledged_and_one_that_waits_says_until_when(crawler: Engine, visitor: Visitor) -> None:
    project, tools = crawler.project("http://shop.example/"), crawler.tools
    crawl = tools.crawls.start(project.id, crawl_type=CrawlType.SCHEDULED)
    notice, target = new_id(1), Target(Channel.EMAIL, "anna@example.org", 350360066)
    mail = {"subject": "Now", "text": "Words", "html": ""}
    tools.notices.notifications.claim(notice, project.id, crawl.id, NoticeKind.CHANGES, target, mail, tools.clock())
    room = f"/notifications/{notice}"
    shown = visitor.get(room).text
    assert "Waits until" in shown
    assert "Waiting" in visitor.get("/notifications?status=held").text
    assert visitor.post(f"{room}/acknowledge", {}).status_code == 303
    kept = tools.notices.notifications.find(notice)
    assert kept is not None
    assert kept.acknowledged_at is not None
    assert "/acknowledge" not in visitor.get(room).text


@pytest.mark.slow
def test_a_chat_is_added_with_its_token_masked_and_its_words_are_shown_first(
    crawler: Engine, site: Site, visitor: Visitor
) -> None:
    lay(site, {"/": page(body="<p>One.</p>")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/": page(body="<p>Two.</p>")})
    crawler.again(first)
    room, token = f"/projects/{first.project_id}/recipients", "AbCdEfGh12345678"
    given = {"channel": "apprise", "address": f"gotify://127.0.0.1:9/{token}", **CONDITIONS}
    preview = visitor.post(room, {**given, "preview": "1", "subject_template": "{{ changed_pages }} things"}).text
    assert "1 things" in preview
    assert visitor.post(room, given).status_code == 303
    shown = visitor.get(room).text
    assert "gotify://…" in shown
    assert token not in shown


def test_a_rule_that_is_changed_keeps_what_begins_its_decimals(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project("http://shop.example/")
    manage = crawler.tools.watching.manage
    field = {"selector": ".kg", "type": "number", "attribute": "content", "decimal": ","}
    rule = manage.add(project.id, read_order({"fields": {"weight": field}}))
    room = f"/projects/{project.id}/watched"
    assert "weight = number, .kg@content" in visitor.get(f"{room}/rule?rule={rule.id}").text
    visitor.post(room, {"rule": str(rule.id), "fields": "weight = number, .kg@content", "name": "Weight"})
    (changed,) = manage.list_rules(project.id)
    assert (changed.name, changed.fields) == ("Weight", rule.fields)
