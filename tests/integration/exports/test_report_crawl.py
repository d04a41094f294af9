"""A report tells what one crawl saw, whatever later crawls saw, and what of it is new."""

import csv
import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from uuid import UUID

import psutil
import pytest
from sqlalchemy import text

from crawler.adapters.reports.builder import ReportBuilder
from crawler.adapters.reports.reader import ReportReader
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.exports.reports import Finding, FindingKind, ReportLimits, as_csv
from crawler.errors import Conflict, NotFound
from crawler.handlers.crawls.report_crawl import ReportCrawl
from tests.integration.defects import canonical, html, sitemap, spoil
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

Kind = FindingKind


def reporting(crawler: Engine, **limits: float) -> ReportCrawl:
    engine = crawler.tools.database
    chosen = ReportLimits.model_validate({"large_bytes": 20_000, **limits})
    return ReportCrawl(
        crawler.tools.store, ReportBuilder(engine, crawler.tools.judging.for_report), ReportReader(engine), chosen
    )


def told(crawler: Engine, crawl: CrawlJob, kind: Kind, **limits: float) -> list[Finding]:
    return list(reporting(crawler, **limits).findings(crawl.id, [kind]))


def paths(findings: list[Finding]) -> dict[str, str]:
    """Path → problem, of pages that have one problem only."""
    return {"/" + finding.url.split("/", 3)[3]: finding.problem for finding in findings}


@pytest.fixture
def spoiled(crawler: Engine, site: Site) -> CrawlJob:
    spoil(site)
    return crawler.crawl(site.url(), max_pages=500)


def test_a_broken_link_names_the_pages_that_link_to_it_in_any_spelling_with_their_words(
    crawler: Engine, site: Site, spoiled: CrawlJob
) -> None:
    gone, never = told(crawler, spoiled, Kind.BROKEN_LINK)
    assert (gone.url.lower().rstrip("/"), gone.problem, gone.value) == (site.url("/gone"), "not_found", 404)
    assert [(r.url, r.text) for r in gone.related] == [
        (site.url("/"), "the lost page"),
        (site.url("/plain"), "lost again"),
    ]
    assert gone.related_count == 2
    assert (never.url, never.text, never.related_count) == (site.url("/never"), "named by the sitemap", 0)


@pytest.mark.slow
def test_many_broken_links_on_many_pages_of_many_links_are_told_in_a_time_that_grows_with_the_links(
    crawler: Engine, site: Site
) -> None:
    """The words of each link were looked for among all links of its page: 24 million looks for 36,000 links."""
    gone, hubs = [f"/gone{number}" for number in range(200)], [f"/hub{number}" for number in range(12)]
    filling = [f"http://elsewhere.example/{number}" for number in range(3000)]
    lay(site, {"/": hubs, **dict.fromkeys(hubs, (*filling, *gone))})
    crawl = crawler.crawl(site.url(), max_pages=300, use_sitemaps=False)
    with costing_postgres(crawler, 1.5):
        found = told(crawler, crawl, Kind.BROKEN_LINK)
    assert {one.related_count for one in found} == {12}
    assert all(one.related[0].text.startswith("to /gone") for one in found)
    assert len(found) == 200


@pytest.mark.slow
def test_titles_of_many_pages_are_compared_in_a_time_that_grows_with_the_pages(crawler: Engine, site: Site) -> None:
    """Postgres expected one page and went through all titles for each: 0.7 s for the 527 pages of a manual."""
    pages = [f"/page{number}" for number in range(700)]
    lay(site, {"/": pages, **{path: page(title=path.rstrip("0")) for path in pages}})
    crawl = crawler.crawl(site.url(), max_pages=1000, use_sitemaps=False)
    with costing_postgres(crawler, 0.5):
        found = told(crawler, crawl, Kind.TITLE_DUPLICATE)
    same = [one for one in found if one.text == "/page1"]
    assert [one.url for one in same] == [site.url(path) for path in ("/page1", "/page10", "/page100")]
    assert [(one.value, [other.url for other in one.related]) for one in same][1] == (3, [same[0].url, same[2].url])


@contextmanager
def costing_postgres(crawler: Engine, most: float) -> Iterator[None]:
    """So many seconds of CPU at most."""
    with crawler.tools.database.connect() as db:
        server = psutil.Process(db.execute(text("SELECT pg_backend_pid()")).scalar_one()).parent()
    assert server
    before = _cpu_seconds(server)
    yield
    assert _cpu_seconds(server) - before < most


def _cpu_seconds(server: psutil.Process) -> float:
    return sum(sum(one.cpu_times()[:2]) for one in server.children())


@pytest.mark.slow
def test_redirects_tell_their_whole_way_and_how_it_ends(crawler: Engine, site: Site, spoiled: CrawlJob) -> None:
    found = {finding.url: finding for finding in told(crawler, spoiled, Kind.REDIRECT)}
    assert paths(list(found.values())) == {
        "/circle-a": "loop",
        "/to-nothing": "dead_end",
        "/hop-1": "chain",
        "/hop-last": "one_hop",
    }
    chain = found[site.url("/hop-1")]
    assert chain.value == 3
    assert chain.text == " → ".join(map(site.url, ("/hop-1", "/hop-2", "/hop-last", "/end")))
    assert [(r.url, r.text) for r in chain.related] == [(site.url("/"), "old news")]


def test_redirects_that_never_end_are_told(crawler: Engine, site: Site) -> None:
    lay(site, {"/": html("Home", "/x/chain/6", "/self")})
    site.set_fault("/self", redirect="/self")
    crawl = crawler.crawl(site.url())
    assert paths(told(crawler, crawl, Kind.REDIRECT)) == {"/x/chain/6": "loop", "/self": "loop"}


@pytest.mark.slow
def test_missing_and_shared_titles_descriptions_and_headings_are_told(crawler: Engine, spoiled: CrawlJob) -> None:
    assert list(paths(told(crawler, spoiled, Kind.TITLE_MISSING))) == ["/untitled"]
    assert list(paths(told(crawler, spoiled, Kind.DESCRIPTION_MISSING))) == ["/mute"]
    assert list(paths(told(crawler, spoiled, Kind.H1_MISSING))) == ["/headless"]
    one, other = told(crawler, spoiled, Kind.TITLE_DUPLICATE)
    assert (one.text, one.value, [r.url for r in one.related]) == ("Twins", 2, [other.url])
    assert list(paths(told(crawler, spoiled, Kind.DESCRIPTION_DUPLICATE))) == ["/echo-a", "/echo-b"]


def test_pages_that_name_another_as_canonical_share_no_title(crawler: Engine, site: Site) -> None:
    lay(
        site,
        {
            "/": html("Home", "/a", "/b", "/c"),
            "/a": html("Same", head=canonical("/a")),
            "/b": html("Same", head=canonical("/a")),
            "/c": html("Same", head='<meta name="robots" content="noindex">'),
        },
    )
    crawl = crawler.crawl(site.url())
    assert told(crawler, crawl, Kind.TITLE_DUPLICATE) == []
    assert told(crawler, crawl, Kind.CANONICAL) == []


@pytest.mark.slow
def test_canonical_problems_are_told_by_where_they_lead(crawler: Engine, site: Site, spoiled: CrawlJob) -> None:
    found = told(crawler, spoiled, Kind.CANONICAL)
    assert paths(found) == {
        "/c-broken": "broken",
        "/c-moved": "redirects",
        "/c-away": "other_host",
        "/c-loop-a": "loop",
        "/c-loop-b": "loop",
        "/c-chain": "chain",
        "/c-hidden": "noindex",
        "/c-two": "conflict",
    }
    two = next(finding for finding in found if finding.problem == "conflict")
    assert {related.url for related in two.related} == {site.url("/c-two"), site.url("/end")}


def test_a_link_header_that_contradicts_the_page_is_a_conflict(crawler: Engine, site: Site) -> None:
    lay(site, {"/": html("Home", "/a", "/b"), "/a": html("A", head=canonical("/a")), "/b": html("B")})
    for path in ("/a", "/b"):
        site.set_fault(path, headers={"Link": '</b>; rel="canonical"'}, status=200)
    crawl = crawler.crawl(site.url())
    assert paths(told(crawler, crawl, Kind.CANONICAL)) == {"/a": "conflict"}


def test_hreflang_problems_are_told(crawler: Engine, spoiled: CrawlJob) -> None:
    found = {(path, f.problem) for f in told(crawler, spoiled, Kind.HREFLANG) for path in paths([f])}
    assert found == {
        ("/l-en", "no_return"),
        ("/l-lonely", "no_self"),
        ("/l-lonely", "no_return"),
        ("/l-code", "invalid_code"),
        ("/l-gone", "broken"),
    }
    code = next(f for f in told(crawler, spoiled, Kind.HREFLANG) if f.problem == "invalid_code")
    assert [related.text for related in code.related] == ["en-UK"]


@pytest.mark.slow
def test_noindex_and_large_pages_and_pages_only_the_sitemap_knows_are_told(crawler: Engine, spoiled: CrawlJob) -> None:
    assert paths(told(crawler, spoiled, Kind.NOINDEX)) == {"/hidden": "meta"}
    (heavy,) = told(crawler, spoiled, Kind.LARGE)
    assert list(paths([heavy])) == ["/heavy"]
    assert heavy.value is not None
    assert heavy.value > 30_000
    assert paths(told(crawler, spoiled, Kind.ORPHAN)) == {"/alone": "orphan"}, "a link to itself is no link"


def test_slow_pages_are_told_with_their_time(crawler: Engine, site: Site) -> None:
    lay(site, {"/": html("Home", "/slow", "/quick"), "/slow": html("Slow"), "/quick": html("Quick")})
    site.set_fault("/slow", delay=1.0)
    crawl = crawler.crawl(site.url())
    found = told(crawler, crawl, Kind.SLOW, slow_seconds=0.9)
    slow = next(finding for finding in found if finding.url == site.url("/slow"))
    assert slow.value is not None
    assert slow.value >= 1000


def test_a_site_without_defects_has_an_empty_report(crawler: Engine, site: Site) -> None:
    lay(site, {"/": html("Home", "/a"), "/a": html("A", "/")})
    crawl = crawler.crawl(site.url())
    report = reporting(crawler, slow_seconds=60)(crawl.id)
    assert [kind.kind for kind in report.kinds] == list(Kind)
    assert (report.found, report.new, report.compared_to) == (0, None, None)
    assert [kind.note for kind in report.kinds if kind.note] == []


@pytest.mark.slow
def test_only_what_the_crawl_before_did_not_have_is_new(crawler: Engine, site: Site, spoiled: CrawlJob) -> None:
    report = reporting(crawler)
    report.ensure(spoiled.id)
    site.remove("/plain")
    site.edit("/end", html=html("End", h1=None))
    site.edit("/headless", html=html("Headless", h1=None, description="It changed, and still has none"))
    second = crawler.again(spoiled)
    summary = report(second.id, new_only=True)
    assert summary.compared_to == spoiled.id
    new = {kind.kind: list(paths(list(kind.first))) for kind in summary.kinds if kind.first}
    assert new == {Kind.BROKEN_LINK: ["/plain"], Kind.H1_MISSING: ["/end"]}
    assert summary.new == 2
    known = {f.url: f.is_new for f in report.findings(second.id, [Kind.H1_MISSING])}
    assert known == {site.url("/end"): True, site.url("/headless"): False}
    assert [f.url for f in report.findings(second.id, new_only=True)] == [site.url("/plain"), site.url("/end")]


@pytest.mark.slow
def test_a_report_made_late_says_what_the_pages_said_then(crawler: Engine, site: Site, spoiled: CrawlJob) -> None:
    for path in ("/headless", "/untitled", "/mute", "/hidden", "/c-broken", "/heavy", "/twin-a", "/plain"):
        site.edit(path, html=html(f"Mended {path}"))
    second = crawler.again(spoiled)
    late = reporting(crawler)
    now = {kind.kind: kind.found for kind in late(second.id).kinds}
    then = {kind.kind: kind.found for kind in late(spoiled.id).kinds}
    for kind in (Kind.H1_MISSING, Kind.TITLE_MISSING, Kind.DESCRIPTION_MISSING, Kind.NOINDEX, Kind.LARGE):
        assert (then[kind], now[kind]) == (1, 0), kind
    assert paths(list(late.findings(spoiled.id, [Kind.CANONICAL])))["/c-broken"] == "broken"
    assert (then[Kind.TITLE_DUPLICATE], now[Kind.TITLE_DUPLICATE]) == (2, 0)
    gone = next(f for f in late.findings(spoiled.id, [Kind.BROKEN_LINK]) if f.related)
    assert [related.text for related in gone.related] == ["the lost page", "lost again"]
    assert {kind.new for kind in late(second.id).kinds} == {0}


@pytest.mark.slow
def test_what_is_no_longer_kept_is_said_and_not_guessed(crawler: Engine, site: Site, spoiled: CrawlJob) -> None:
    site.edit("/headless", html=html("Mended"))
    crawler.again(spoiled)
    with crawler.tools.database.begin() as db:
        db.execute(text("DELETE FROM request_log"))
        db.execute(text("DELETE FROM snapshots"))
    report = reporting(crawler)(spoiled.id)
    notes = {kind.kind: kind.note for kind in report.kinds}
    assert "no longer kept" in (notes[Kind.H1_MISSING] or "")
    assert "no longer kept" in (notes[Kind.SLOW] or "")
    assert next(kind.found for kind in report.kinds if kind.kind is Kind.H1_MISSING) == 0


def test_orphans_are_not_guessed_when_the_crawl_did_not_see_the_whole_site(crawler: Engine, site: Site) -> None:
    lay(site, {"/": html("Home", "/a"), "/a": html("A", "/b"), "/b": html("B")})
    sitemap(site, "/b")
    crawl = crawler.crawl(site.url(), max_pages=2)
    (orphans,) = reporting(crawler)(crawl.id, kinds=[Kind.ORPHAN]).kinds
    assert orphans.found == 0
    assert "whole site" in (orphans.note or "")


@pytest.mark.slow
def test_pages_of_findings_follow_one_another_without_gap_or_repeat(crawler: Engine, spoiled: CrawlJob) -> None:
    report = reporting(crawler)
    seen: list[str] = []
    after: int | None = 0
    while after is not None:
        page = report.page(spoiled.id, Kind.CANONICAL, after=after, limit=3)
        assert len(page.items) <= 3
        seen += [finding.url for finding in page.items]
        after = page.next_after
    assert seen == [finding.url for finding in report.findings(spoiled.id, [Kind.CANONICAL])]
    assert len(seen) == 8


@pytest.mark.slow
def test_a_report_that_is_there_stays(crawler: Engine, site: Site, spoiled: CrawlJob) -> None:
    report = reporting(crawler)
    first = report.ensure(spoiled.id)
    site.edit("/headless", html=html("Mended"))
    crawler.again(spoiled)
    ReportBuilder(crawler.tools.database, crawler.tools.judging.for_report)(
        spoiled, None, lambda href: href, ReportLimits()
    )
    assert report.ensure(spoiled.id) == first
    assert len(told(crawler, spoiled, Kind.H1_MISSING)) == 1


def test_a_crawl_that_runs_has_no_report_and_one_that_was_never_there_is_not_found(crawler: Engine, site: Site) -> None:
    crawl = crawler.start(crawler.project(site.url()))
    with pytest.raises(Conflict, match="when it is over"):
        crawler.tools.crawls.report(crawl.id)
    with pytest.raises(NotFound):
        crawler.tools.crawls.report(UUID(int=0))


def test_a_crawl_whose_urls_were_pruned_says_so(crawler: Engine, spoiled: CrawlJob) -> None:
    with crawler.tools.database.begin() as db:
        db.execute(text("DELETE FROM crawl_discovered_urls"))
    with pytest.raises(Conflict, match="no longer kept"):
        crawler.tools.crawls.report(spoiled.id)


@pytest.mark.slow
def test_as_csv_every_broken_link_is_a_row_with_its_source(crawler: Engine, site: Site, spoiled: CrawlJob) -> None:
    content = b"".join(as_csv(reporting(crawler).findings(spoiled.id, [Kind.BROKEN_LINK]))).decode()
    rows = list(csv.DictReader(io.StringIO(content)))
    assert [(row["related_url"], row["related_text"]) for row in rows] == [
        (site.url("/"), "the lost page"),
        (site.url("/plain"), "lost again"),
        ("", ""),
    ]


@pytest.mark.slow
def test_every_problem_that_can_be_told_has_words(crawler: Engine, spoiled: CrawlJob) -> None:
    assert all(finding.meaning for finding in reporting(crawler).findings(spoiled.id))


def test_two_who_ask_at_once_get_the_same_report(crawler: Engine, spoiled: CrawlJob) -> None:
    report = reporting(crawler)
    with ThreadPoolExecutor(4) as people:
        heads = list(people.map(report.ensure, [spoiled.id] * 4))
    assert heads == [heads[0]] * 4
    findings = crawler.rows("SELECT kind, position FROM crawl_findings WHERE crawl_id = :id", id=spoiled.id)
    assert len(findings) == sum(count.found for count in heads[0].counts.values())


@pytest.mark.slow
def test_a_deleted_project_takes_its_reports_along(crawler: Engine, spoiled: CrawlJob) -> None:
    reporting(crawler).ensure(spoiled.id)
    crawler.tools.store.delete_project(spoiled.project_id)
    assert crawler.rows("SELECT 1 FROM crawl_reports UNION ALL SELECT 1 FROM crawl_findings") == []
