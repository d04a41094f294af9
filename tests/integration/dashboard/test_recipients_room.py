"""Recipients and mutes in the dashboard: added, tried, muted, removed."""

import pytest

from tests.integration.dashboard.test_security import Visitor, client, visitor
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

__all__ = ["client", "visitor"]

FIELDS = {
    "channel": "email",
    "address": "anna@example.org",
    "notify_on": "conditions",
    "conditions": "contains <b>sale</b>\nnew page",
    "form": "daily",
    "time": "07:30",
    "timezone": "Europe/Berlin",
    "quiet_from": "22:00",
    "quiet_to": "06:00",
}


def test_a_recipient_is_added_muted_and_removed(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project("http://shop.example/")
    room = f"/projects/{project.id}/recipients"
    assert "Nobody else is told" in visitor.get(room).text
    assert visitor.post(room, FIELDS).status_code == 303
    manage = crawler.tools.notices.manage_recipients
    (one,) = manage.list(project.id)
    assert (one.address, one.form, one.quiet_hours) == ("anna@example.org", "daily", ("22:00", "06:00"))
    shown = visitor.get(room).text
    assert "every day at 07:30 (Europe/Berlin)" in shown
    assert "<b>sale" not in shown
    visitor.post(f"{room}/mute", {"recipient": str(one.id), "hours": "24"})
    assert manage.get(project.id, one.id).is_muted(crawler.tools.clock())
    visitor.post(f"{room}/mute", {"recipient": str(one.id)})
    assert not manage.get(project.id, one.id).is_muted(crawler.tools.clock())
    written = visitor.get(f"{room}/{one.id}").text
    for value in ("anna@example.org", "07:30", "Europe/Berlin", "contains &lt;b&gt;sale&lt;/b&gt;\nnew page", "22:00"):
        assert value in written
    wrong = visitor.post(f"{room}/{one.id}", {**FIELDS, "address": "nobody"})
    assert (wrong.status_code, "name@example.org" in wrong.text) == (422, True)
    visitor.post(f"{room}/mute", {"recipient": str(one.id), "hours": "24"})
    assert visitor.post(f"{room}/{one.id}", {**FIELDS, "address": "ben@example.org", "quiet_from": "", "quiet_to": ""})
    (changed,) = manage.list(project.id)
    assert (changed.id, changed.address, changed.quiet_hours) == (one.id, "ben@example.org", None)
    assert changed.is_muted(crawler.tools.clock()), "what the form does not show stays"
    assert visitor.get(f"{room}/{project.id}").status_code == 404
    visitor.post(f"{room}/remove", {"recipient": str(one.id)})
    assert manage.list(project.id) == []
    assert visitor.post(f"{room}/remove", {"recipient": "nobody"}).status_code == 404


@pytest.mark.slow
def test_a_mistake_is_told_and_a_template_is_shown_first(crawler: Engine, site: Site, visitor: Visitor) -> None:
    lay(site, {"/": page(body="<p>One.</p>")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    room = f"/projects/{first.project_id}/recipients"
    for wrong, words in (
        ({"address": "nobody"}, "name@example.org"),
        ({"timezone": "Mars/Base"}, "time zone"),
        ({"conditions": "sometimes"}, "a condition reads like"),
        ({"body_template": "{% for %}"}, "body_template: "),
        ({"preview": "1"}, "nothing to show"),
    ):
        refused = visitor.post(room, {**FIELDS, **wrong})
        assert (refused.status_code, words in refused.text) == (422, True), words
    lay(site, {"/": page(body="<p>Two.</p>")})
    crawler.again(first)
    written = {"preview": "1", "subject_template": "{{ changed_pages }} <i>of</i> {{ project }}"}
    assert "1 &lt;i&gt;of&lt;/i&gt;" in visitor.post(room, {**FIELDS, **written}).text
    assert crawler.tools.notices.manage_recipients.list(first.project_id) == []


def test_a_page_is_muted_and_told_again(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project("http://shop.example/")
    room = f"/projects/{project.id}/recipients"
    assert visitor.post(f"/projects/{project.id}/mutes", {"hours": "168"}).status_code == 422
    visitor.post(f"/projects/{project.id}/mutes", {"page": "http://shop.example/a", "hours": "168"})
    (mute,) = crawler.tools.notices.manage_mutes.list(project.id)
    assert (mute.until - crawler.tools.clock()).days == 6
    assert "http://shop.example/a" in visitor.get(room).text
    visitor.post(f"/projects/{project.id}/mutes/remove", {"mute": str(mute.id)})
    assert crawler.tools.notices.manage_mutes.list(project.id) == []
