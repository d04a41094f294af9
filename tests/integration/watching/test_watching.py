"""From a watch rule to the message: what is compared, what is told, and a backtest that agrees with it."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.crawls.project import Project
from crawler.domain.notices.backtests import TrialRules
from crawler.domain.notices.mutes import MuteOrder
from crawler.domain.notices.recipients import read_recipient
from crawler.domain.watching.rules import TRIED, read_order
from crawler.handlers.watching import watch_values
from tests.integration.handmade import Clock, lay, page
from tests.integration.inbox import Inbox, receiving_mail
from tests.integration.live_engine import Engine
from tests.site.client import Site


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with receiving_mail() as box:
        yield box


@pytest.fixture
def engine_settings(inbox: Inbox) -> dict[str, object]:
    return {"smtp_url": f"smtp://127.0.0.1:{inbox.port}", "mail_from": "crawler@example.org"}


def lamp(
    price: str = "119,00 €", words: str = "A lamp for reading.", state: str = "OutOfStock", cost: str = "cost"
) -> str:
    data = f'{{"@type": "Product", "name": "Lamp", "offers": {{"price": "1", "availability": "{state}"}}}}'
    said = f'<p class="{cost}">{price}</p><div class=about><p>{words}</p></div>'
    return page("/", body=f'<script type="application/ld+json">{data}</script>{said}')


class Shop:
    """A project that is crawled by its schedule, and tells of it."""

    def __init__(self, crawler: Engine, site: Site) -> None:
        self.crawler = crawler
        self.tools = crawler.tools
        self.site = site
        lay(
            site,
            {
                "/": ["/lamp", "/news", "/a", "/b"],
                "/lamp": lamp(),
                "/news": page(body="<p>No news.</p>"),
                "/a": [],
                "/b": [],
            },
        )
        self.project: Project = crawler.project(
            site.url(), use_sitemaps=False, delay_seconds=0, significant_changed_share=0.9
        )

    def schedule(self, **given: Any) -> None:
        base = {"enabled": True, "frequency": "daily", "notification_email": "ops@example.org"}
        self.tools.notices.set_schedule(self.project.id, {**base, **given})

    def rule(self, **given: Any) -> str:
        return str(self.tools.watching.manage.add(self.project.id, read_order(given)).id)

    def crawl(self) -> CrawlJob:
        crawl = self.tools.crawls.start(self.project.id, crawl_type=CrawlType.SCHEDULED)
        crawl = self.crawler.run(self.tools.crawls.seed(crawl.id))
        self.tools.notices.notify_crawl(crawl.id)
        return crawl


@pytest.fixture
def shop(crawler: Engine, site: Site) -> Shop:
    return Shop(crawler, site)


def summary(crawl: CrawlJob) -> dict[str, Any]:
    assert crawl.change_summary is not None
    return crawl.change_summary


def words(crawl: CrawlJob) -> list[str]:
    return [change["words"] for change in summary(crawl).get("watched", ())]


def test_a_price_goes_from_its_rule_to_a_mail_and_the_backtest_agrees(shop: Shop, inbox: Inbox) -> None:
    shop.schedule(notify_on="conditions")
    below = {"of": [{"kind": "field", "field": "price", "below": 100}]}
    shop.rule(pattern="/lamp$", fields={"price": "price .cost"}, tell=below)
    shop.crawl()
    lay(shop.site, {"/lamp": lamp("109,00 €")})
    dearer = shop.crawl()
    assert words(dearer) == ["price 119.00 € → 109.00 €, −8.4 %"]
    assert inbox.mails == [], "it is not below 100"
    lay(shop.site, {"/lamp": lamp("99,00 €"), "/news": page(body="<p>Much news, about something else.</p>")})
    cheap = shop.crawl()
    (mail,) = inbox.mails
    assert "You asked to be told: " + shop.site.url("/lamp") in mail.text()
    assert "price 109.00 € → 99.00 €, −9.2 %" in mail.text()
    trials = shop.tools.notices.backtest_schedule(shop.project.id, TrialRules())
    assert [(trial.crawl_id, trial.then.alert, trial.now.alert) for trial in trials] == [
        (cheap.id, True, True),
        (dearer.id, False, False),
    ]
    tried = shop.tools.notices.backtest_schedule(
        shop.project.id, TrialRules.model_validate({"conditions": {"of": [{"kind": "contains", "text": "much NEWS"}]}})
    )
    assert [[reason.why for reason in trial.now.reasons] for trial in tried] == [
        ["price 109.00 € → 99.00 €, −9.2 %", "it contains “much NEWS”"],
        [],
    ]


@pytest.mark.slow
def test_a_backtest_tries_a_rule_that_is_not_there_yet(shop: Shop) -> None:
    shop.crawl()
    lay(shop.site, {"/lamp": lamp("99,00 €")})
    crawl = shop.crawl()
    assert "watched" not in summary(crawl)
    order = {"pattern": "/lamp", "fields": {"price": "price .cost"}}
    (trial,) = shop.tools.notices.backtest_schedule(shop.project.id, TrialRules.model_validate({"watch": order}))
    assert [reason.why for reason in trial.now.reasons] == ["price 119.00 € → 99.00 €, −16.8 %"]
    assert shop.tools.watching.manage.list_rules(shop.project.id) == [], "nothing is kept"


@pytest.mark.slow
def test_a_rule_is_tried_by_itself_and_in_place_of_what_it_was_before(shop: Shop) -> None:
    known = shop.rule(pattern="/lamp", fields={"price": "price .cost"})
    shop.crawl()
    lay(shop.site, {"/lamp": lamp("99,00 €")})
    shop.crawl()

    def told(**given: Any) -> list[str]:
        (trial,) = shop.tools.notices.backtest_schedule(shop.project.id, TrialRules.model_validate(given))
        return [reason.why for reason in trial.now.reasons if reason.rule == str(TRIED)]

    below = {"pattern": "/lamp", "fields": {"price": "price .cost"}, "tell": {"of": ["price below 50"]}}
    assert told(watch={"tell": {"of": ["contains nothing"]}}) == [], "another rule tells, this one does not"
    assert told(watch=below, in_place_of=known) == []
    below["tell"] = {"of": ["price below 100"]}
    assert told(watch=below, in_place_of=known) == ["price 119.00 € → 99.00 €, −16.8 %"]


@pytest.mark.slow
def test_conditions_are_tried_in_place_of_those_there_are(shop: Shop) -> None:
    shop.schedule(notify_on="conditions", conditions={"of": ["contains cheaper"]})
    shop.crawl()
    lay(shop.site, {"/lamp": lamp(words="A cheaper lamp.")})
    shop.crawl()

    def is_told(**given: Any) -> bool:
        (trial,) = shop.tools.notices.backtest_schedule(shop.project.id, TrialRules.model_validate(given))
        return trial.now.alert

    assert is_told()
    assert is_told(conditions={"of": ["contains cheaper", "contains lamp"], "match": "all"}) is False
    assert is_told(conditions={"of": ["contains cheaper"], "pattern": "/news"}) is False
    assert is_told(conditions=None) is False, "without any"


@pytest.mark.slow
def test_what_is_not_text_is_watched_where_a_rule_asks(shop: Shop, inbox: Inbox) -> None:
    """The text stays the same: without the rule nobody would know."""
    shop.schedule(notify_on="conditions")
    shop.rule(pattern="/lamp$", products=True, tell={"of": [{"kind": "back_in_stock"}]})
    shop.crawl()
    lay(shop.site, {"/lamp": lamp(state="InStock")})
    crawl = shop.crawl()
    assert summary(crawl)["summary"]["changed_pages"] == 0
    assert words(crawl) == ["product.availability OutOfStock → InStock"]
    assert "product.availability OutOfStock → InStock" in inbox.mails[0].text()
    (entry,) = shop.tools.changes.feed.entries(5)
    assert (entry.crawl_id, entry.counts["watched_pages"], entry.more) == (crawl.id, 1, 0)
    assert "OutOfStock → InStock" in str(entry.pages[0].lines)


@pytest.mark.slow
def test_a_broken_rule_is_told_once(shop: Shop, inbox: Inbox) -> None:
    shop.schedule(notify_on="conditions")
    shop.rule(
        pattern="/lamp$",
        fields={"price": "price .cost"},
        tell={"of": [{"kind": "field", "field": "price", "below": 1}]},
    )
    shop.crawl()
    lay(shop.site, {"/lamp": lamp(cost="amount")})
    broken = shop.crawl()
    assert words(broken) == ["price is not found any more; it was 119.00 €"], "though no text changed"
    assert len(inbox.mails) == 1
    lay(shop.site, {"/lamp": lamp("99,00 €", cost="amount")})
    assert words(shop.crawl()) == []
    assert len(inbox.mails) == 1


@pytest.mark.slow
def test_a_rule_that_is_broken_anew_is_told_anew(shop: Shop, inbox: Inbox) -> None:
    shop.schedule(notify_on="conditions")
    shop.rule(pattern="/lamp$", fields={"price": "price .cost"}, tell={"of": ["price below 1"]})
    told = []
    for cost in ("cost", "amount", "amount", "cost", "amount"):
        lay(shop.site, {"/lamp": lamp(cost=cost)})
        crawl = shop.crawl()
        told += [words(crawl)] if crawl.change_summary else []
    gone = ["price is not found any more; it was 119.00 €"]
    assert told == [gone, [], ["price is found: 119.00 €"], gone]
    assert len(inbox.mails) == 2, "that it is found again is no news of a price below 1"


@pytest.mark.slow
def test_conditions_look_at_words_however_they_are_written(shop: Shop, inbox: Inbox) -> None:
    shop.schedule(notify_on="conditions", conditions={"of": ["contains CAFÉ", "contains /\\p{Han}{2}/"]})
    shop.crawl()
    lay(shop.site, {"/news": page(body="<p>The cafe\u0301 is open.</p>"), "/a": page(body="<p>Now in 東京.</p>")})
    crawl = shop.crawl()
    reasons = shop.tools.watching.decide(crawl, shop.tools.notices.set_schedule.get(shop.project.id).config.conditions)
    assert sorted(reason.url.rpartition("/")[2] for reason in reasons) == ["a", "news"]
    assert len(inbox.mails) == 1


@pytest.mark.slow
def test_a_new_page_is_told_by_its_value_too(shop: Shop, inbox: Inbox) -> None:
    conditions = {"of": ["new page", "price below 100"], "match": "all"}
    shop.schedule(notify_on="conditions")
    shop.rule(pattern="/(lamp|rope|sail)$", fields={"price": "price .cost"}, tell=conditions)
    shop.crawl()
    lay(shop.site, {"/": ["/lamp", "/news", "/a", "/b", "/rope"], "/rope": lamp("120,00 €")})
    shop.crawl()
    assert inbox.mails == []
    lay(shop.site, {"/": ["/lamp", "/news", "/a", "/b", "/rope", "/sail"], "/sail": lamp("90,00 €")})
    shop.crawl()
    assert len(inbox.mails) == 1
    assert "the page is new; price is found: 90.00 €" in inbox.mails[0].text()


@pytest.mark.slow
def test_a_wall_or_a_page_that_is_gone_breaks_no_rule(shop: Shop) -> None:
    shop.rule(pattern="/(lamp|news)$", fields={"price": "price .cost", "said": "p"}, watch=["p"])
    shop.crawl()
    lay(
        shop.site,
        {"/lamp": "<html><head><title>Just a moment...</title></head><body>Checking your browser</body></html>"},
    )
    shop.site.remove("/news")
    walled = shop.crawl()
    assert words(walled) == []
    lay(shop.site, {"/lamp": lamp("99,00 €")})
    assert words(shop.crawl()) == ["price 119.00 € → 99.00 €, −16.8 %", "said 119,00 € → 99,00 €"], (
        "with what stood there"
    )


def test_only_the_watched_part_counts(shop: Shop) -> None:
    rule = shop.rule(pattern="/lamp$", watch=[".about"])
    shop.crawl()
    lay(shop.site, {"/lamp": lamp("99,00 €"), "/news": page(body="<p>Some news.</p>")})
    crawl = shop.crawl()
    assert summary(crawl)["changed_page_urls"] == [shop.site.url("/news")]
    (quiet,) = summary(crawl)["quiet_page_urls"]
    assert rule in quiet["rules"]
    lay(shop.site, {"/lamp": lamp("89,00 €", "A lamp for cooking.")})
    crawl = shop.crawl()
    assert summary(crawl)["changed_page_urls"] == [shop.site.url("/lamp")]
    (digest,) = shop.tools.changes.digest(crawl.id)
    assert [(line.removed, line.added) for line in digest.lines] == [("A lamp for reading.", "A lamp for cooking.")]


@pytest.mark.slow
def test_a_new_page_is_told_under_a_pattern(shop: Shop, inbox: Inbox) -> None:
    conditions = {"pattern": "/jobs/", "of": [{"kind": "new_page"}]}
    shop.schedule(notify_on="conditions", conditions=conditions)
    shop.crawl()
    lay(shop.site, {"/a": ["/other/1"], "/other/1": []})
    shop.crawl()
    assert inbox.mails == []
    lay(shop.site, {"/b": ["/jobs/1"], "/jobs/1": []})
    shop.crawl()
    assert "the page is new" in inbox.mails[0].text()


@pytest.mark.slow
def test_without_rules_nothing_is_watched_and_thresholds_tell_as_before(shop: Shop, inbox: Inbox) -> None:
    shop.schedule(notify_on="any")
    shop.crawl()
    lay(shop.site, {"/lamp": lamp("99,00 €")})
    crawl = shop.crawl()
    assert "watched" not in summary(crawl)
    assert len(inbox.mails) == 1
    lay(shop.site, {"/lamp": lamp("99,00 €", state="InStock")})
    assert summary(shop.crawl())["summary"]["changed_pages"] == 0
    assert len(inbox.mails) == 1


def test_a_preview_shows_what_a_rule_finds_on_stored_pages(shop: Shop) -> None:
    shop.crawl()
    order = read_order(
        {
            "pattern": "/(lamp|news)$",
            "watch": ["body"],
            "fields": {"price": "price .cost", "no": ".none"},
            "products": True,
        }
    )
    preview = shop.tools.watching.preview(shop.project.id, order)
    assert preview.matching_pages == 2
    found = {field.field: field.value for field in preview.pages[0].fields}
    assert found == {
        "price": "119.00 €",
        "no": None,
        "product.name": "Lamp",
        "product.price": "1",
        "product.availability": "OutOfStock",
    }
    assert preview.warnings == (
        "The watched part is more than half of a page: a narrower selector says more.",
        "no is found on none of these pages.",
    )
    shop.site.remove("/none")
    assert shop.tools.watching.preview(shop.project.id, read_order({"pattern": "/nowhere", "watch": ["p"]})).warnings


SLOW = (
    "{% for a in range(9999) %}{% for b in range(9999) %}{% for c in range(9999) %}{% endfor %}{% endfor %}{% endfor %}"
)


def add(shop: Shop, **given: Any) -> None:
    shop.tools.notices.manage_recipients.add(shop.project.id, read_recipient({"channel": "email", **given}))


@pytest.mark.slow
def test_each_recipient_is_told_by_own_conditions_and_at_the_own_time(
    crawler: Engine, site: Site, inbox: Inbox
) -> None:
    clock = Clock(crawler)
    shop = Shop(crawler, site)
    shop.schedule(notification_email=None)
    shop.rule(pattern="/lamp$", fields={"price": "price .cost"})
    below = {"of": ["price below 100"]}
    add(shop, address="cheap@example.org", notify_on="conditions", conditions=below)
    words = "{{ project.name }} {% for one in watched %}{{ one.words }}{% endfor %}"
    add(
        shop,
        address="all@example.org",
        notify_on="any",
        subject_template="Now: {{ changed_pages }}",
        body_template=words,
    )
    add(shop, address="slow@example.org", notify_on="conditions", conditions=below, body_template=SLOW)
    add(shop, address="muted@example.org", notify_on="any", muted_until=clock() + timedelta(hours=1))
    late = {"form": "daily", "time": f"{clock() + timedelta(hours=2):%H:%M}"}
    add(shop, address="late@example.org", notify_on="any", **late)
    shop.crawl()
    for price in ("109,00 €", "99,00 €"):
        lay(shop.site, {"/lamp": lamp(price)})
        last = shop.crawl()
    told = [(mail.to[0], mail.mail["Subject"]) for mail in inbox.mails]
    names = ["all@example.org"] * 2 + ["cheap@example.org", "slow@example.org"]
    assert sorted(address for address, _ in told) == names
    assert {subject for address, subject in told if address == "all@example.org"} == {"Now: 1"}
    (slow,) = (mail.text() for mail in inbox.mails if mail.to == ["slow@example.org"])
    assert slow.startswith("The template could not be used: it takes too long")
    assert "109.00 € → 99.00 €" in slow, "it is told all the same"
    assert shop.tools.notices.notify_crawl(last.id) == 0
    held = [kept for kept in shop.tools.notices.notifications.newest(10) if kept.status == "held"]
    assert len(held) == 2
    clock.forward(hours=3)
    assert shop.tools.notices.notifications.due_crawls(clock()) != []
    assert shop.tools.notices.notify_crawl(last.id) == 2
    digest = inbox.mails[-1]
    assert (digest.to, len(inbox.mails)) == (["late@example.org"], 5)
    assert "2 notices" in digest.mail["Subject"]
    assert "109.00 € → 99.00 €" in digest.text()
    assert "119.00 € → 109.00 €" in digest.text()
    assert shop.tools.notices.notifications.due_crawls(clock()) == []
    assert shop.tools.notices.notify_crawl(last.id) == 0, "who was muted then is not told of it now"


def test_what_is_muted_is_told_to_nobody_until_then(crawler: Engine, site: Site, inbox: Inbox) -> None:
    clock = Clock(crawler)
    shop = Shop(crawler, site)
    shop.schedule(notify_on="conditions", conditions={"of": ["contains news"]})
    rule = shop.rule(pattern="/lamp$", fields={"price": "price .cost"})
    add(shop, address="all@example.org", notify_on="any")
    mutes = shop.tools.notices.manage_mutes
    mutes.add(shop.project.id, MuteOrder(rule=UUID(rule), until=clock() + timedelta(hours=1)))
    shop.crawl()
    lay(shop.site, {"/lamp": lamp("109,00 €")})
    shop.crawl()
    assert [mail.to for mail in inbox.mails] == [["all@example.org"]], "told by size, not by the rule"
    shop.tools.projects.manage.change(shop.project.id, {"muted_until": clock() + timedelta(hours=1)})
    lay(shop.site, {"/lamp": lamp("99,00 €"), "/a": page(body="<p>Old news</p>")})
    shop.crawl()
    assert len(inbox.mails) == 1
    clock.forward(hours=2)
    lay(shop.site, {"/lamp": lamp("89,00 €")})
    shop.crawl()
    assert sorted(mail.to[0] for mail in inbox.mails[1:]) == ["all@example.org", "ops@example.org"]


@pytest.mark.slow
def test_a_muted_page_alone_tells_nobody_by_its_size_either(crawler: Engine, site: Site, inbox: Inbox) -> None:
    clock = Clock(crawler)
    shop = Shop(crawler, site)
    shop.schedule(notify_on="any")
    add(shop, address="all@example.org", notify_on="any")
    news = MuteOrder(page=shop.site.url("/news"), until=clock() + timedelta(hours=1))
    shop.tools.notices.manage_mutes.add(shop.project.id, news)
    shop.crawl()
    lay(shop.site, {"/news": page(body="<p>Some news.</p>")})
    assert summary(shop.crawl())["summary"]["changed_pages"] == 1, "it is still listed"
    assert inbox.mails == []
    lay(shop.site, {"/news": page(body="<p>More news.</p>"), "/a": page(body="<p>A.</p>")})
    shop.crawl()
    assert len(inbox.mails) == 2
    clock.forward(hours=2)
    lay(shop.site, {"/news": page(body="<p>Late news.</p>")})
    shop.crawl()
    assert len(inbox.mails) == 4


@pytest.mark.slow
def test_a_backtest_agrees_about_values_that_no_condition_tells(shop: Shop, inbox: Inbox) -> None:
    shop.schedule(notify_on="any")
    shop.rule(pattern="/lamp$", products=True, tell={"of": ["contains nowhere"]})
    shop.crawl()
    lay(shop.site, {"/lamp": lamp(state="InStock")})
    shop.crawl()
    (trial,) = shop.tools.notices.backtest_schedule(shop.project.id, TrialRules())
    assert (len(inbox.mails), trial.then.alert, trial.now.alert) == (1, True, True)


@pytest.mark.slow
def test_pages_for_whose_rules_there_was_no_time_are_told_as_unread(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.rule(pattern="/lamp", fields={"cost": "price .cost"})
    shop.crawl()
    lay(shop.site, {"/lamp": lamp("99,00 €")})
    monkeypatch.setattr(watch_values, "MATCH_SECONDS", -1.0)
    changes = shop.crawl().change_summary
    assert changes is not None
    assert (changes["watched_changes"], changes["watch_unread"]) == (0, [shop.site.url("/lamp")])
    assert changes["changed_page_urls"] == [shop.site.url("/lamp")]
