"""A page that is too much to be weighed is changed by its hash, told as such, and spoils nothing else."""

import time
from random import Random

import pytest
from sqlalchemy import text

from crawler.adapters.judging.judge_pool import Limits
from crawler.bootstrap import judging
from crawler.domain.changes.summary import Compared
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.ids import new_id
from crawler.domain.noise.rules import NoiseRule, RuleKind
from crawler.domain.notices.backtests import TrialRules
from crawler.domain.notices.mail import change_sections
from crawler.errors import TooSlowToTry
from crawler.handlers.changes import across_pages, apply_noise_rules
from crawler.handlers.notices import backtest_schedule
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

BOXES = "".join(f'<div class="box b{n}"><span>{n}</span></div>' for n in range(300))


LITTLE_SECONDS = 0.3
"""Enough for a small page, also in a judge that has just started."""


@pytest.fixture
def little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    for limits in ("COMPARISON", "PEOPLE", "DIGEST"):
        monkeypatch.setattr(judging, limits, getattr(judging, limits)._replace(page_seconds=LITTLE_SECONDS))


def lines(edition: str) -> str:
    """A megabyte in which every line is another one each time."""
    return page(body="".join(f"<p>{edition}{n * 7919 % 30_011:x} of {n}</p>" for n in range(30_000)))


def edited(crawler: Engine, site: Site) -> CrawlJob:
    """Two crawls: one page of a great many lines, all of them new, and two others, one of them edited."""
    lay(site, {"/": page(body='<a href="/large">l</a><a href="/small">s</a>'), "/large": lines("a")})
    lay(site, {"/small": page(body="<p>Twelve bicycles.</p>")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/large": lines("b"), "/small": page(body="<p>Thirteen bicycles.</p>")})
    return crawler.again(first)


@pytest.mark.usefixtures("little_time")
def test_a_page_of_many_lines_is_changed_by_its_hash_and_the_others_are_compared(crawler: Engine, site: Site) -> None:
    used = time.process_time()
    crawl = edited(crawler, site)
    found = crawler.tools.changes.describe.with_texts(crawl)
    assert time.process_time() - used < 10, "it was judged elsewhere"
    assert found.state is Compared.YES
    assert found.changed_page_urls == (site.url("/large"), site.url("/small"))
    assert found.by_hash_pages == 1
    assert [(one.url, one.reason) for one in found.by_hash] == [(site.url("/large"), "too_large_to_weigh")]
    texts = {text.url: text for text in found.texts or ()}
    assert [(line.removed, line.added) for line in texts[site.url("/small")].lines] == [
        ("Twelve bicycles.", "Thirteen bicycles.")
    ]
    assert texts[site.url("/large")].note == "It is too large to weigh: only its hash tells that it changed."
    sections = change_sections(crawl.change_summary or {})
    assert any(part.title == "Too large to weigh, changed by hash (1):" for part in sections)


def stored_selector(crawler: Engine, crawl: CrawlJob, value: str) -> None:
    """A rule as an earlier release took it."""
    now = crawler.tools.clock()
    identity = new_id(int(now.timestamp() * 1000))
    rule = NoiseRule(id=identity, project_id=crawl.project_id, kind=RuleKind.SELECTOR, value=value, created_at=now)
    crawler.tools.changes.noise_rules.add(rule)


@pytest.mark.usefixtures("little_time")
def test_a_rule_that_takes_minutes_costs_its_pages_and_nothing_else(crawler: Engine, site: Site) -> None:
    lay(
        site, {"/": page(body='<a href="/boxes">b</a><a href="/small">s</a>'), "/boxes": page(body=f"{BOXES}<p>1.</p>")}
    )
    lay(site, {"/small": page(body="<p>Twelve bicycles.</p>")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    stored_selector(crawler, first, "*:has(~ * ~ * ~ * ~ .zzz)")
    lay(site, {"/boxes": page(body=f"{BOXES}<p>Another.</p>"), "/small": page(body="<p>Thirteen bicycles.</p>")})
    second = crawler.again(first)
    found = crawler.tools.changes.describe(second)
    assert found.changed_page_urls == (site.url("/boxes"), site.url("/small"))
    assert {one.url for one in found.by_hash} <= {site.url("/boxes")}


@pytest.mark.slow
@pytest.mark.usefixtures("little_time")
def test_all_pages_together_have_a_bound_too(crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "COMPARISON", Limits(page_seconds=0.3, total_seconds=0.25))
    crawl = edited(crawler, site)
    reasons = {one["url"]: one["reason"] for one in (crawl.change_summary or {})["by_hash"]}
    assert reasons == {site.url("/large"): "too_large_to_weigh", site.url("/small"): "no_time_to_weigh"}


def digits(number: int) -> str:
    """98 KB in 199 lines, just below what is compared with other pages; each line is one of hundreds of values."""
    chosen = Random(number)
    rows = (" ".join(chosen.choices("0123456789", k=245)) for _ in range(199))
    return page(body=f"<h1>Thing {number}</h1>" + "".join(f"<p>{row}</p>" for row in rows))


def full_of_values(crawler: Engine, site: Site) -> CrawlJob:
    links = "".join(f'<a href="/{n}">{n}</a>' for n in range(4))
    lay(site, {"/": page(body=links), **{f"/{n}": page(body=f"<h1>Thing {n}</h1>") for n in range(4)}})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {f"/{n}": digits(n) for n in range(4)})
    return crawler.again(first)


def test_what_all_pages_say_together_is_found_out_elsewhere_and_told_one_by_one_if_it_takes_too_long(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time counts like that of pages, so that comparisons of others go first."""
    crawl = full_of_values(crawler, site)
    used = time.process_time()
    again = crawler.tools.changes.diff_crawl(crawl.id)
    assert time.process_time() - used < 1
    assert again.change_summary == crawl.change_summary
    monkeypatch.setattr(across_pages, "SECONDS", 0.001)
    alone = crawler.tools.changes.diff_crawl(crawl.id)
    assert (alone.change_summary or {})["changed_page_urls"] == [site.url(f"/{n}") for n in range(4)]
    assert (alone.change_summary or {})["template_changes"] == []


def test_a_backtest_counts_again_elsewhere(crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = full_of_values(crawler, site)
    used = time.process_time()
    trial = TrialRules(ignore_patterns=("zzzz",), crawls=1)
    (told,) = crawler.tools.notices.backtest_schedule(crawl.project_id, trial)
    assert told.rules_tried
    assert time.process_time() - used < 1.5
    monkeypatch.setattr(backtest_schedule, "RECOUNT_SECONDS", 0.001)
    with pytest.raises(TooSlowToTry):
        crawler.tools.notices.backtest_schedule(crawl.project_id, trial)


@pytest.mark.slow
@pytest.mark.usefixtures("little_time")
def test_what_people_ask_for_has_the_same_bounds(crawler: Engine, site: Site) -> None:
    tools = crawler.tools
    crawl = edited(crawler, site)
    (large,) = [one for one in tools.changes.describe(crawl, pages=True).changed_pages or () if "/large" in one.url]
    with pytest.raises(TooSlowToTry):
        tools.changes.compare_versions(crawl.project_id, large.page_id, large.from_version, large.to_version)
    versions = tools.changes.compared_pages.versions(
        crawl.project_id, large.page_id, [large.from_version, large.to_version]
    )
    shown = tools.changes.diff_without_noise(crawl.project_id, large.page_id, (versions[0], versions[1]))
    assert shown.note == "It is too large to weigh: only its hash tells that it changed."


@pytest.mark.slow
@pytest.mark.parametrize("weight", ["<script>var data = '{}';</script>", '<img src="data:image/png;base64,{}" alt="">'])
def test_what_nobody_reads_on_a_page_of_megabytes_does_not_count(crawler: Engine, site: Site, weight: str) -> None:
    def large(price: str, clock: str) -> str:
        return page(body=f"<p>Today is {clock}</p>{weight.format('ab12' * 600_000)}<p>Honey costs {price} EUR.</p>")

    lay(site, {"/": page("/large"), "/large": large("2.10", "2026-11-17, 10:02:31")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/large": large("2.40", "2026-11-18, 11:03:12")})
    second = crawler.again(first)
    (told,) = crawler.tools.changes.describe.with_texts(second).texts or ()
    assert ("Honey costs 2.10 EUR.", "Honey costs 2.40 EUR.") in [(line.removed, line.added) for line in told.lines]
    shown = crawler.tools.changes.describe(second, pages=True).changed_pages or ()
    ids = [shown[0].from_version, shown[0].to_version]
    versions = crawler.tools.changes.compared_pages.versions(second.project_id, shown[0].page_id, ids)
    rows = crawler.tools.changes.diff_without_noise(second.project_id, shown[0].page_id, (versions[0], versions[1]))
    assert rows.note is None


@pytest.mark.slow
@pytest.mark.parametrize("mention", ['<a title="write <!-- so">x</a>', "<!-->", '<input placeholder="<script>">'])
def test_a_page_of_megabytes_that_mentions_what_nobody_reads_is_not_unchanged(
    crawler: Engine, site: Site, mention: str
) -> None:
    words = mention + "<p>All of these words.</p>" * 90_000 + "<p>The meeting is on {}.</p>"
    lay(site, {"/": page("/large"), "/large": page(body=words.format("Monday"))})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/large": page(body=words.format("Thursday"))})
    summary = crawler.again(first).change_summary or {}
    assert summary["changed_page_urls"] == [site.url("/large")]


def test_a_lightened_page_of_which_nothing_seen_changed_is_changed_by_its_hash(crawler: Engine, site: Site) -> None:
    """As if what was left out had been read by somebody after all."""
    weight = "<script>" + "ab12" * 600_000 + "</script>"
    lay(site, {"/": page("/large"), "/large": page(body=f"{weight}<p>One.</p>")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    with crawler.tools.database.begin() as db:
        db.execute(text("UPDATE crawl_discovered_urls SET content_hash = 'x' WHERE url LIKE '%/large'"))
        db.execute(text("UPDATE page_versions SET content_hash = 'x' WHERE content_hash IS NOT NULL"))
        db.execute(text("UPDATE crawled_pages SET content_hash = 'x', etag = NULL WHERE url LIKE '%/large'"))
    lay(site, {"/large": page(body=f"{weight.replace('ab12', 'ab13')}<p>One.</p>")})
    second = crawler.again(first)
    assert site.url("/large") in (second.change_summary or {})["changed_page_urls"]


@pytest.mark.slow
def test_a_page_of_megabytes_is_told_as_such(crawler: Engine, site: Site) -> None:
    words = "<p>{}</p>" + "<p>All of these words.</p>" * 90_000
    lay(site, {"/": page("/large"), "/large": page(body=words.format("One."))})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/large": page(body=words.format("Two."))})
    summary = crawler.again(first).change_summary or {}
    assert summary["changed_page_urls"] == [site.url("/large")]
    assert summary["by_hash"] == [{"url": site.url("/large"), "reason": "too_large_to_weigh"}]


@pytest.mark.slow
@pytest.mark.usefixtures("little_time")
def test_a_page_that_takes_minutes_does_not_hide_that_another_moved(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apply_noise_rules, "MOVE_SECONDS", 0.8)
    about = "<p>All about bicycles, and who mends them.</p><p>Ask for Anna, she knows the most.</p>"
    lay(site, {"/": page("/old", "/slow"), "/old": page(title="Bicycles", body=about)})
    lay(site, {"/slow": page(title="Boxes", body=BOXES)})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    stored_selector(crawler, first, "*:has(~ * ~ * ~ * ~ .zzz)")
    lay(site, {"/": page("/new", "/slower"), "/new": page(title="Bicycles", body=about)})
    lay(site, {"/slower": page(title="Boxes", body=f"{BOXES}<p>More.</p>")})
    site.remove("/old")
    site.remove("/slow")
    summary = crawler.again(first).change_summary or {}
    assert {"from": site.url("/old"), "to": site.url("/new")} in summary["moved"]
