"""From a watch rule to the message: what is compared, what is told, and a backtest that agrees with it."""

from collections.abc import Iterator
from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.crawls.project import Project
from crawler.domain.notices.backtests import TrialRules
from crawler.domain.watching.rules import read_order
from tests.integration.handmade import lay, page
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


def test_a_backtest_tries_a_rule_that_is_not_there_yet(shop: Shop) -> None:
    shop.crawl()
    lay(shop.site, {"/lamp": lamp("99,00 €")})
    crawl = shop.crawl()
    assert "watched" not in summary(crawl)
    order = {"pattern": "/lamp", "fields": {"price": "price .cost"}}
    (trial,) = shop.tools.notices.backtest_schedule(shop.project.id, TrialRules.model_validate({"watch": order}))
    assert [reason.why for reason in trial.now.reasons] == ["price 119.00 € → 99.00 €, −16.8 %"]
    assert shop.tools.watching.manage.list_rules(shop.project.id) == [], "nothing is kept"


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
