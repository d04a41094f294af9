"""Messages arrive, and that can be seen before anything changed; links in mails ask first; feeds have own addresses."""

import html
import re
from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import urlencode
from uuid import UUID
from xml.etree import ElementTree

import pytest
from fastapi.testclient import TestClient

from crawler.domain.api_keys import Scope
from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from tests.integration.dashboard.test_home import bakery, edited
from tests.integration.dashboard.test_security import Visitor, secret
from tests.integration.handmade import lay, page
from tests.integration.inbox import receiving_mail
from tests.integration.live_engine import Engine
from tests.integration.raw_server import response, serving
from tests.integration.shared_app import shared_app
from tests.site.client import Site

PART = {"HX-Request": "true"}
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"dashboard_url": "http://watch.example"}


@pytest.fixture
def client(crawler: Engine) -> Iterator[TestClient]:
    with TestClient(shared_app(crawler.tools), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def visitor(client: TestClient, crawler: Engine) -> Visitor:
    return Visitor(client, secret(crawler))


def run_by_schedule(crawler: Engine, crawl: CrawlJob) -> CrawlJob:
    started = crawler.tools.crawls.start(crawl.project_id, crawl_type=CrawlType.SCHEDULED)
    return crawler.run(crawler.tools.crawls.seed(started.id))


def set_mail(visitor: Visitor, port: int) -> None:
    fields = {"mail_host": "127.0.0.1", "mail_port": str(port), "mail_security": "smtp", "mail_from": "w@x.example"}
    assert visitor.post("/system/settings/mail", fields).headers["location"] == "/system/settings?said=mail-saved"


def test_the_mail_server_is_set_encrypted_tested_and_removed_in_the_settings(crawler: Engine, visitor: Visitor) -> None:
    assert "No mail server is set up" in visitor.get("/system/settings").text
    with receiving_mail() as inbox:
        set_mail(visitor, inbox.port)
        text = visitor.post("/system/settings/mail/test", {"to": "me@x.example"}, **PART).text
        assert "The mail server took it" in text
        (received,) = inbox.mails
    assert received.mail["From"] == "w@x.example"
    assert "This is a test." in received.text()
    (row,) = crawler.rows("SELECT value FROM settings WHERE name = 'notices'")
    assert "127.0.0.1" not in row["value"]
    assert crawler.tools.notices.warn_about_channels.mail_warning() is None, "every worker goes by it"
    refused = visitor.post("/system/settings/mail/test", {"to": "me@x.example"}, **PART).text
    assert "cannot be used" in refused
    visitor.post("/system/settings/mail", {"remove": "on"})
    assert crawler.rows("SELECT 1 FROM settings WHERE name = 'notices'") == []


def test_a_password_is_kept_unless_another_is_typed_and_never_shown(crawler: Engine, visitor: Visitor) -> None:
    fields = {"mail_host": "m.example", "mail_security": "smtps", "mail_user": "u@x", "mail_from": "w@x.example"}
    visitor.post("/system/settings/mail", {**fields, "mail_password": "p@ss/word"})
    visitor.post("/system/settings/mail", {**fields, "mail_port": "466"})
    assert crawler.tools.notices.stored_settings.read().smtp_url == "smtps://u%40x:p%40ss%2Fword@m.example:466"
    assert "p@ss" not in visitor.get("/system/settings").text
    visitor.post("/system/settings/webhook-secret", {"webhook_secret": "whsec_c2VjcmV0"})
    assert crawler.tools.notices.current_settings().webhook_secret == "whsec_c2VjcmV0"
    wrong = visitor.post("/system/settings/mail", {**fields, "mail_host": "a b", "mail_from": "nobody"})
    assert wrong.status_code == 422
    assert 'id="mail_host-wrong"' in wrong.text
    assert 'id="mail_from-wrong"' in wrong.text


def test_whoever_leaves_to_set_up_the_mail_server_comes_back_to_what_was_typed(
    crawler: Engine, visitor: Visitor
) -> None:
    project = crawler.project("http://example.org/")
    assert f"/projects/{project.id}/watch/mail" in visitor.get(f"/projects/{project.id}/watch").text
    typed = {"notification_email": "me@x.example", "frequency": "weekly", "channel": "a-secret-token"}
    away = visitor.post(f"/projects/{project.id}/watch/mail", typed).headers["location"]
    assert "secret" not in away
    found = re.search(r'name="back" value="([^"]+)"', visitor.get(away).text)
    assert found
    back = html.unescape(found[1])
    fields = {"mail_host": "m.example", "mail_security": "smtp", "mail_from": "w@x.example", "back": back}
    saved = visitor.post("/system/settings/mail", fields).headers["location"]
    assert f'href="{found[1]}"' in visitor.get(saved).text
    again = visitor.get(back).text
    assert 'value="me@x.example"' in again
    assert '<option value="weekly" selected>' in again
    for strange in ("https://evil.example/", "//evil.example", "/projects//evil.example", "javascript:alert(1)"):
        assert "evil" not in visitor.get(f"/system/settings?{urlencode({'back': strange})}").text
        elsewhere = visitor.post("/system/settings/mail", {**fields, "back": strange}).headers["location"]
        assert elsewhere == "/system/settings?said=mail-saved"


def test_only_operators_set_the_mail_server(crawler: Engine, client: TestClient) -> None:
    writer = Visitor(client, secret(crawler, Scope.WRITE))
    assert writer.post("/system/settings/mail", {"mail_host": "m.example"}).status_code == 403
    assert writer.post("/system/settings/mail/test", {"to": "a@b.example"}).status_code == 403


def test_each_channel_is_tried_as_it_is_typed(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project("http://example.org/")
    path = f"/projects/{project.id}/schedule/test"
    with receiving_mail() as inbox, serving(lambda *_: response(b"thanks")) as receiver:
        set_mail(visitor, inbox.port)
        mailed = visitor.post(path, {"test": "email", "notification_email": "me@x.example"}, **PART).text
        hook = {"test": "webhook", "notification_webhook": receiver.url("/hook")}
        hooked = visitor.post(path, hook, **PART).text
        (asked,) = receiver.requests
        assert len(inbox.mails) == 1
    assert "sent." in mailed
    assert "200 thanks" in hooked
    assert asked.line.startswith("POST /hook ")
    nothing = visitor.post(path, {"test": "email"}, **PART).text
    assert "no address" in nothing
    refused = visitor.post(path, {"test": "urls", "notification_urls": "json://10.0.0.1/"}, **PART).text
    assert "Not sent" in refused
    assert crawler.tools.notices.notifications.newest(5) == [], "a test is no notification"


@pytest.mark.slow
def test_a_channel_is_added_by_what_its_service_handed_out(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project("http://example.org/")
    fields = {"enabled": "on", "frequency": "daily", "time": "06:00", "timezone": "UTC", "notify_on": "any",
              "notify_on_changes": "on", "channel_kind": "ntfy", "channel": "alerts"}  # fmt: skip
    assert visitor.post(f"/projects/{project.id}/schedule", fields).status_code == 303
    assert crawler.tools.notices.schedules.notification_urls(project.id) == ("ntfys://ntfy.sh/alerts",)
    wrong = visitor.post(f"/projects/{project.id}/schedule", {**fields, "channel_kind": "slack"})
    assert wrong.status_code == 422
    assert 'id="channel-wrong"' in wrong.text


def test_where_nobody_would_be_told_it_says_so(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project("http://example.org/")
    text = visitor.get(f"/projects/{project.id}/schedule").text
    assert "nothing runs until you save it" in text, "a proposal does not look active"
    crawler.tools.notices.set_schedule(project.id, {"enabled": True, "frequency": "daily"})
    text = visitor.get(f"/projects/{project.id}/schedule").text
    assert "Nobody would be told of changes" in text
    assert "nothing runs until you save it" not in text
    assert "Nobody would be told" in visitor.get(f"/projects/{project.id}").text


SCHEDULE = {"enabled": "on", "frequency": "daily", "time": "06:00", "timezone": "UTC", "notify_on": "any",
            "notify_on_changes": "on", "conditions": "", "advice_wish": ""}  # fmt: skip
MISTAKES: tuple[dict[str, str], ...] = (
    {"frequency": "never"}, {"time": "25:00"}, {"timezone": "Nowhere/At_All"}, {"frequency": "weekly"},
    {"frequency": "monthly", "day_of_month": "30"}, {"frequency": "cron", "cron": "often"},
    {"frequency": "cron", "cron": "1 2 3 4 5", "time": "x"}, {"window_from": "22:00"}, {"jitter_minutes": "many"},
    {"window_from": "22:00", "window_to": "23:00"}, {"notify_on": "never"}, {"notification_email": "nobody"},
    {"notification_webhook": "http://10.0.0.1/hook"}, {"notification_webhook": "ftp://x.example/"},
    {"notification_urls": "json://10.0.0.1/"}, {"notification_urls": "nothing://x"},
    {"channel": "x", "channel_kind": "slack"}, {"channel": "http://10.0.0.1/", "channel_kind": "webhook"},
    {"notify_after_failures": "-1"}, {"conditions": "sometimes"}, {"advice_wish": "a" * 600},
    {"significant_new_pages": "0"}, {"significant_changed_share": "all"}, {"time": "25:00", "notification_email": "x"},
)  # fmt: skip


@pytest.mark.slow
def test_as_many_fields_are_marked_as_are_said_to_need_another_look(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project("http://example.org/")
    for mistake in MISTAKES:
        refused = visitor.post(f"/projects/{project.id}/schedule", {**SCHEDULE, **mistake})
        assert refused.status_code == 422, mistake
        said = re.search(r"Not saved yet: (\d) fields? needs? another look", refused.text)
        assert said, mistake
        marked = re.findall(r'<p class="wrong" id="[\w-]+"[^>]*><svg', refused.text)
        assert len(marked) == int(said[1]), mistake
        assert "data-first" not in refused.text, "nothing is proposed over what was typed"


@pytest.mark.slow
def test_a_webhook_that_may_not_be_reached_stays_marked_while_other_fields_are_typed(
    crawler: Engine, visitor: Visitor
) -> None:
    project = crawler.project("http://example.org/")
    typed = {**SCHEDULE, "notification_webhook": "http://10.0.0.1/hook"}
    text = visitor.post(f"/projects/{project.id}/schedule/preview", typed, **PART).text
    assert re.search(r'id="notification_webhook-wrong"[^>]*><svg.*may not be reached', text)
    assert 'id="notification_urls-wrong"' not in text, "only saving tells whether it can be used"


def test_a_first_schedule_is_proposed_alike_wherever_it_is_made(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project("http://example.org/")
    text = visitor.get(f"/projects/{project.id}/schedule").text
    assert '<input type="radio" name="frequency" value="daily" checked>' in text
    assert '<option value="any" selected>' in text
    visitor.post(f"/projects/{project.id}/watch", {"frequency": "daily", "notification_email": "me@x.example"})
    kept = crawler.tools.notices.set_schedule.get(project.id).config
    assert (kept.frequency.value, kept.notify_on.value) == ("daily", "any")


@pytest.mark.slow
def test_links_in_a_mail_ask_before_they_mute_or_ignore(
    crawler: Engine, visitor: Visitor, client: TestClient, site: Site
) -> None:
    with receiving_mail() as inbox:
        set_mail(visitor, inbox.port)
        first = edited(crawler, site, 40)
        schedule = {"enabled": True, "frequency": "daily", "notify_on": "any", "notification_email": "me@x.example"}
        crawler.tools.notices.set_schedule(first.project_id, schedule)
        lay(site, {"/": bakery(45)})
        crawl = run_by_schedule(crawler, first)
        crawler.tools.notices.notify_crawl(crawl.id)
        (received,) = inbox.mails
        text = received.text()
        links = re.findall(r"http://watch\.example(/act/\S+)", text)
        stranger = Visitor(client)
        ignore, day, week = links
        assert stranger.get(ignore).status_code == 200
        asked = stranger.get(day).text
        assert "Mute this project for a day?" in asked
        assert not crawler.tools.store.get_project(crawl.project_id).is_muted(crawler.tools.clock()), "only asked"
        assert "Ignore this block?" in stranger.get(ignore).text
        assert "<ins>45</ins>" in stranger.get(ignore).text
        assert crawler.tools.changes.noise_rules.list_rules(crawl.project_id) == []
        undo = re.search(r'action="(/act/[^"]+)"', stranger.post(ignore).text)
        assert undo
        assert "Let it count again?" in stranger.get(undo[1]).text
        assert "Counts again" in stranger.post(undo[1]).text
        assert crawler.tools.changes.noise_rules.list_rules(crawl.project_id) == []
        assert "Counts again" in stranger.post(undo[1]).text, "twice is once"
        assert "Ignored from now on" in stranger.post(ignore).text
        assert len(crawler.tools.changes.noise_rules.list_rules(crawl.project_id)) == 1
        assert "Nothing to ignore" in stranger.get(ignore).text
        assert "Muted for a week" in stranger.post(week).text
        lay(site, {"/": bakery(50, "cakes and rolls")})
        again = run_by_schedule(crawler, crawl)
        assert crawler.tools.notices.notify_crawl(again.id) == 0
        assert len(inbox.mails) == 1, "muted"
        assert stranger.get(f"{week[:-4]}AAAA").status_code == 404
        other_site = stranger.client.post(day, headers={"Sec-Fetch-Site": "cross-site"}, follow_redirects=False)
        assert other_site.status_code == 403
        crawler.tools.projects.manage.delete(crawl.project_id)
        for link in (ignore, day):
            assert "was deleted" in stranger.get(link).text


def costs(first: str) -> str:
    """Three blocks of one name, with nothing that tells them apart."""
    return page(body="".join(f'<p class="cost">{cost}</p>' for cost in (first, "9.10", "1.20")))


def told_of_an_edit(
    crawler: Engine, visitor: Visitor, site: Site, before: dict[str, str | list[str]], after: dict[str, str | list[str]]
) -> tuple[CrawlJob, str]:
    """The crawl that found the edit, and the link in its mail that asks to ignore the block."""
    with receiving_mail() as inbox:
        set_mail(visitor, inbox.port)
        lay(site, before)
        first = crawler.crawl(site.url(), use_sitemaps=False)
        schedule = {"enabled": True, "frequency": "daily", "notify_on": "any", "notification_email": "me@x.example"}
        crawler.tools.notices.set_schedule(first.project_id, schedule)
        lay(site, after)
        crawl = run_by_schedule(crawler, first)
        crawler.tools.notices.notify_crawl(crawl.id)
        (received,) = inbox.mails
    return crawl, re.findall(r"http://watch\.example(/act/\S+)", received.text())[0]


TABLE = "<table>{}</table>", "<tr><td>{}</td><td>{}</td></tr>"
TERMS = "<dl>{}</dl>", "<dt>{}</dt><dd>{}</dd>"
LINES = "<div>{}</div>", "<p>{}: {}</p>"


def menu(shape: tuple[str, str], tea: str, cake: str = "£4.10") -> str:
    around, one = shape
    return page(body=around.format(one.format("Tea", tea) + one.format("Cake", cake)))


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("shape", [TABLE, TERMS, LINES])
def test_a_value_beside_a_label_is_ignored_with_its_row_on_its_page_and_no_other_number_is(
    crawler: Engine, visitor: Visitor, client: TestClient, site: Site, shape: tuple[str, str]
) -> None:
    before: dict[str, str | list[str]] = {"/": menu(shape, "£9.80"), "/b": menu(shape, "£9.80")}
    crawl, ignore = told_of_an_edit(crawler, visitor, site, before, {"/": menu(shape, "£10.40")})
    asked = Visitor(client).get(ignore).text
    assert "Ignore this block?" in asked
    assert "Ignore it on this page" in asked
    Visitor(client).post(ignore)
    (rule,) = crawler.tools.changes.noise_rules.list_rules(crawl.project_id)
    assert rule.place.page == site.url("/")
    lay(site, {"/": menu(shape, "£11.00")})
    quiet = run_by_schedule(crawler, crawl)
    assert changed_pages(quiet) == []
    kept = Visitor(client, secret(crawler)).get(f"/projects/{crawl.project_id}/noise").text
    assert re.search(r"Kept quiet\">\s*1 time<", kept), "a page of a comparison counts once"
    lay(site, {"/": menu(shape, "£11.50", "£4.20")})
    assert len(changed_pages(run_by_schedule(crawler, quiet))) == 1, "another row's number is still told"


@pytest.mark.slow
def test_a_rule_for_every_number_of_a_site_is_called_that_and_needs_to_be_asked_for(
    crawler: Engine, visitor: Visitor, client: TestClient, site: Site
) -> None:
    def bare(*found: str) -> dict[str, str | list[str]]:
        return {"/": page("/b", body="".join(f"<p>{one}</p>" for one in found)), "/b": "<p>Nothing here.</p>"}

    crawl, ignore = told_of_an_edit(crawler, visitor, site, bare("£9.80", "£9.80"), bare("£10.40", "£9.80"))
    stranger = Visitor(client)
    asked = stranger.get(ignore).text
    assert "Ignore every number on all 2 pages?" in asked
    assert "Ignore this block?" not in asked
    assert "This holds for more than the line" in asked
    assert 'class="button danger" name="where"' in asked
    stranger.post(ignore)
    assert crawler.tools.changes.noise_rules.list_rules(crawl.project_id) == [], "not unless it is said"
    stranger.post(ignore, {"where": "everywhere"})
    (rule,) = crawler.tools.changes.noise_rules.list_rules(crawl.project_id)
    assert rule.kind.value == "numbers"
    trial = Visitor(client, secret(crawler)).get(f"/projects/{crawl.project_id}/noise/trial?kind=numbers").text
    assert "Ignore every number on every page" in trial
    assert "This holds for more than the line" in trial
    assert "Add this rule" not in trial


@pytest.mark.slow
def test_a_rule_from_a_mail_says_what_else_it_silences(
    crawler: Engine, visitor: Visitor, client: TestClient, site: Site
) -> None:
    with receiving_mail() as inbox:
        set_mail(visitor, inbox.port)
        lay(site, {"/": costs("4.00")})
        first = crawler.crawl(site.url(), use_sitemaps=False)
        schedule = {"enabled": True, "frequency": "daily", "notify_on": "any", "notification_email": "me@x.example"}
        crawler.tools.notices.set_schedule(first.project_id, schedule)
        lay(site, {"/": costs("4.50")})
        crawler.tools.notices.notify_crawl(run_by_schedule(crawler, first).id)
        (received,) = inbox.mails
    ignore = re.findall(r"http://watch\.example(/act/\S+)", received.text())[0]
    asked = Visitor(client).get(ignore).text
    assert "The rule fits 3 lines of this page, not this one alone." in asked


def goods(**costs: str) -> dict[str, str | list[str]]:
    """A page for each ware, with its cost in a block of the same name."""
    shown = {f"/{ware}": f"<h1>{ware}</h1><p class=cost>€{cost}</p><p>Made here.</p>" for ware, cost in costs.items()}
    return {"/": list(shown), **shown}


def changed_pages(crawl: CrawlJob) -> list[str]:
    return [url.rpartition("/")[2] for url in (crawl.change_summary or {})["changed_page_urls"]]


@pytest.mark.slow
def test_a_block_of_many_pages_is_ignored_on_the_page_of_the_mail_alone_unless_every_page_is_asked_for(
    crawler: Engine, visitor: Visitor, client: TestClient, site: Site
) -> None:
    with receiving_mail() as inbox:
        set_mail(visitor, inbox.port)
        lay(site, goods(kettle="20.00", lamp="31.00", stool="44.00"))
        first = crawler.crawl(site.url(), use_sitemaps=False)
        schedule = {"enabled": True, "frequency": "daily", "notify_on": "any", "notification_email": "me@x.example"}
        crawler.tools.notices.set_schedule(first.project_id, schedule)
        lay(site, goods(kettle="20.00", lamp="35.00", stool="44.00"))
        crawl = run_by_schedule(crawler, first)
        crawler.tools.notices.notify_crawl(crawl.id)
        (received,) = inbox.mails
    ignore = re.findall(r"http://watch\.example(/act/\S+)", received.text())[0]
    asked = Visitor(client).get(ignore).text
    assert "This block stands on 3 of the 4 pages looked at" in asked
    assert "€20.00" in asked, "what else it would hide"
    assert "Ignore it on every page" in asked
    Visitor(client).post(ignore)
    (rule,) = crawler.tools.changes.noise_rules.list_rules(crawl.project_id)
    assert rule.value == f"p.cost @ {site.url('/lamp')}"
    lay(site, goods(kettle="25.00", lamp="39.00", stool="44.00"))
    later = run_by_schedule(crawler, crawl)
    assert changed_pages(later) == ["kettle"], "the other prices are still told"
    assert "only on" in Visitor(client, secret(crawler)).get(f"/projects/{crawl.project_id}/noise").text


@pytest.mark.slow
def test_a_block_in_the_dashboard_is_ignored_on_its_page_or_on_every_page(
    crawler: Engine, visitor: Visitor, site: Site
) -> None:
    lay(site, goods(kettle="20.00", lamp="31.00"))
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, goods(kettle="20.00", lamp="35.00"))
    second = crawler.again(first)
    compared = visitor.client.get(f"/crawls/{second.id}/changes/page", params={"url": site.url("/lamp")}).text
    link = re.search(r'href="(/projects/[^"]*/noise/new[^"]*)"', compared)
    assert link
    form = visitor.get(link[1].replace("&amp;", "&")).text
    trial = re.search(r'hx-get="(/projects/[^"]*/noise/trial[^"]*)"', form)
    assert trial
    tried = visitor.get(trial[1].replace("&amp;", "&"), **PART).text
    assert "This block stands on 2 of the 3 pages looked at" in tried
    values = re.findall(r'name="value" value="([^"]*)"', tried)
    assert values == [f"p.cost @ {site.url('/lamp')}", "p.cost"], "this page first"


def told_by_mail(crawler: Engine, crawl: CrawlJob) -> None:
    given = {"enabled": True, "frequency": "daily", "notify_on": "any", "notification_email": "me@x.example"}
    crawler.tools.notices.set_schedule(crawl.project_id, given)


def worked_off(crawler: Engine, visitor: Visitor, project: UUID, **fields: str) -> CrawlJob:
    """A crawl that somebody asks for on the project's page."""
    answer = visitor.post(f"/projects/{project}/crawl", fields)
    crawl_id = UUID(answer.headers["location"].split("/")[2].partition("?")[0])
    return crawler.run(crawler.tools.crawls.seed(crawl_id))


@pytest.mark.slow
def test_crawl_now_tells_those_who_are_told_and_says_so_before(crawler: Engine, visitor: Visitor, site: Site) -> None:
    first = edited(crawler, site, 40)
    path = f"/projects/{first.project_id}"
    assert "Nobody is told of changes yet" in visitor.get(path).text
    told_by_mail(crawler, first)
    assert "“Crawl now” tells the recipients of this project what changed." in visitor.get(path).text
    for room in (path, f"{path}/schedule", f"/crawls/{first.id}"):
        shown = visitor.get(room).text
        assert f'action="{path}/crawl"' in shown
        assert not [name for name in ("Run now", "Start a crawl", "Crawl again") if name in shown], "one name"
    with receiving_mail() as inbox:
        set_mail(visitor, inbox.port)
        lay(site, {"/": bakery(45)})
        crawl = worked_off(crawler, visitor, first.project_id)
        waiting = visitor.get(f"/crawls/{crawl.id}/state").text
        assert "Being sent" in waiting
        assert f'hx-get="/crawls/{crawl.id}/told"' in waiting
        crawler.tools.notices.notify_crawl(crawl.id)
        assert len(inbox.mails) == 1
    sent = visitor.get(f"/crawls/{crawl.id}/told", **PART).text
    assert "email sent" in sent
    assert "every 2s" not in sent


@pytest.mark.slow
def test_what_a_quiet_crawl_found_can_be_sent_afterwards_once(crawler: Engine, visitor: Visitor, site: Site) -> None:
    first = edited(crawler, site, 40)
    told_by_mail(crawler, first)
    with receiving_mail() as inbox:
        set_mail(visitor, inbox.port)
        lay(site, {"/": bakery(45)})
        crawl = worked_off(crawler, visitor, first.project_id, quietly="on")
        assert crawler.tools.notices.notify_crawl(crawl.id) == 0
        assert "Send it now" in visitor.get(f"/crawls/{crawl.id}/changes").text
        assert visitor.post(f"/crawls/{crawl.id}/tell").status_code == 303
        (received,) = inbox.mails
        assert "45 cents" in received.text()
        assert visitor.post(f"/crawls/{crawl.id}/tell").status_code == 409
        assert len(inbox.mails) == 1
    assert "Send it now" not in visitor.get(f"/crawls/{crawl.id}/changes").text


@pytest.mark.slow
def test_a_muted_project_says_until_when_on_every_page_about_it(crawler: Engine, visitor: Visitor, site: Site) -> None:
    first = edited(crawler, site, 40)
    told_by_mail(crawler, first)
    until = crawler.tools.clock() + timedelta(days=1)
    crawler.tools.projects.manage.change(first.project_id, {"muted_until": until})
    lay(site, {"/": bakery(45)})
    crawl = run_by_schedule(crawler, first)
    crawler.tools.notices.notify_crawl(crawl.id)
    said = f"Muted until {until:%Y-%m-%d %H:%M} UTC, so nobody is told."
    assert said in visitor.get(f"/crawls/{crawl.id}").text
    assert said in visitor.get(f"/crawls/{crawl.id}/changes").text
    shown = visitor.get(f"/projects/{first.project_id}").text
    assert f"Muted until {until:%-d %b, %H:%M} UTC" in shown
    assert "until in" not in shown


@pytest.mark.slow
def test_a_feed_is_read_by_its_own_address_until_that_is_revoked(
    crawler: Engine, visitor: Visitor, client: TestClient, site: Site
) -> None:
    lay(site, {"/": bakery(40)})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/": bakery(45, "&lt;script&gt;alert(1)&lt;/script&gt; rolls")})
    changed = crawler.again(crawl)
    other = crawler.project("http://example.org/")

    def made(path: str) -> str:
        found = re.search(r'value="http://watch\.example(/feeds/[^"]+)"', visitor.post(path).text)
        assert found
        return found[1]

    every, own, others = (
        made("/subscribe"),
        made(f"/projects/{crawl.project_id}/subscribe"),
        made(f"/projects/{other.id}/subscribe"),
    )
    session = dict(client.cookies)
    client.cookies.clear()
    for path, entries in ((every, 1), (own, 1), (others, 0)):
        answer = client.get(path)
        assert answer.headers["content-type"].startswith("application/atom+xml")
        feed = ElementTree.fromstring(answer.text)
        assert len(feed.findall(f"{ATOM}entry")) == entries
    entry = ElementTree.fromstring(client.get(own).text).find(f"{ATOM}entry")
    assert entry is not None
    content = entry.findtext(f"{ATOM}content") or ""
    assert "<ins>45</ins>" in content or "<ins>" in content
    assert "<script>" not in content
    assert entry.find(f"{ATOM}link").attrib["href"] == f"http://watch.example/crawls/{changed.id}/changes"  # type: ignore[union-attr]
    assert client.get("/feeds/crf_nothing.atom").status_code == 404
    client.cookies.update(session)
    visitor.post(f"/projects/{crawl.project_id}/subscribe", {"revoke": "on"})
    newer = made("/subscribe")
    client.cookies.clear()
    assert [client.get(path).status_code for path in (own, every, newer)] == [404, 404, 200]
