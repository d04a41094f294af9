"""What `explain` says of a URL is what happened to it. Real crawls; the site's log is the judge of requests."""

from datetime import timedelta
from uuid import uuid4

import pytest

from crawler.domain.crawls.crawl import CrawlJob, FetchState
from crawler.domain.engine.ledger import Source
from crawler.domain.explaining.url_explanation import Explanation
from crawler.domain.reasons import Reason
from crawler.errors import InvalidUrl, NotFound
from tests.integration.handmade import asked, host_of, lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"shift_seconds": 0.5, "http_timeout_seconds": 1}


def explain(crawler: Engine, crawl: CrawlJob, url: str) -> Explanation:
    return crawler.tools.crawls.explain_url(crawl.id, url)


def test_a_stored_page_is_told_with_its_parent_rule_attempt_and_version(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/keep/a", "/keep/b"], "/keep/a": ["/keep/b"], "/keep/b": []})
    crawl = crawler.crawl(site.url(), include_patterns=["/keep/"], use_sitemaps=False)
    told = explain(crawler, crawl, site.url("/keep/b"))
    row = crawler.ledger(crawl)[site.url("/keep/b")]
    assert (told.state, told.reason, told.http_status) == (FetchState.DONE, None, 200)
    assert (told.source, told.parent, told.depth, told.priority) == (Source.LINK, site.url("/"), 1, 1)
    assert told.ruling.admitted_by == "include pattern '/keep/'"
    assert told.ruling.refused_by is None
    assert [mention.page for mention in told.mentions] == [site.url("/keep/a")], "the parent is told apart"
    assert told.stored is not None
    assert told.stored.content_hash == bytes(row["content_hash"]).hex()
    assert told.stored.version_id == row["version_id"]
    assert (told.stored.title, told.stored.unchanged) == ("/keep/b", False)
    (attempt,) = told.attempts
    (request,) = [request for request in site.requests() if request.path == "/keep/b"]
    assert (attempt.status, attempt.lane, attempt.meaning) == (200, "http", "done")
    assert abs(attempt.at.timestamp() - request.arrived) < 0.1
    assert told.verdict == "It was fetched and stored."


@pytest.mark.slow
def test_the_time_in_the_queue_is_told_with_what_went_before(crawler: Engine, site: Site) -> None:
    lay(site, {"/": [f"/{n}" for n in range(6)], **{f"/{n}": [] for n in range(6)}})
    crawl = crawler.crawl(site.url(), delay_seconds=0.2, use_sitemaps=False)
    found = asked(site)
    last = explain(crawler, crawl, site.url(found[-1]))
    assert last.waited is not None
    assert 0.9 <= last.waited.seconds <= 3
    assert last.waited.requests_before == len(found) - 2, "all but the homepage, which led to it, and itself"
    assert (last.waited.gap_seconds, last.waited.gap_because) == (0.2, "the project's delay")


def test_an_excluded_url_is_told_with_the_pattern(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/secret/a"]})
    crawl = crawler.crawl(site.url(), exclude_patterns=["/secret/"])
    told = explain(crawler, crawl, site.url("/secret/a"))
    assert (told.state, told.reason) == (FetchState.SKIPPED, Reason.EXCLUDED)
    assert told.ruling.refused_by == "exclude pattern '/secret/'"
    assert told.ruling.admitted_by is None
    assert told.attempts == ()
    assert told.verdict == "It was not crawled (excluded): exclude pattern '/secret/'."


def test_a_preset_is_named_as_the_rule(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/cart/x"]})
    told = explain(crawler, crawler.crawl(site.url()), site.url("/cart/x"))
    assert told.ruling.refused_by == "exclude pattern '/cart/' of preset auto"


def test_a_url_robots_txt_forbids_is_told_with_the_line_and_what_would_admit_it(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/secret/a"]})
    site.set_robots("User-agent: *\nDisallow: /secret/\n")
    told = explain(crawler, crawler.crawl(site.url()), site.url("/secret/a"))
    assert (told.reason, told.ruling.refused_by) == (Reason.ROBOTS, "robots.txt, line 2: Disallow: /secret/")
    assert told.ruling.admitted_by == "in scope"


def test_a_link_to_another_site_is_told_with_the_pages_that_have_it(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": ["http://other.example/x"]})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    told = explain(crawler, crawl, "http://other.example/x")
    assert (told.known, told.reason) == (False, Reason.OFF_DOMAIN)
    assert [mention.page for mention in told.mentions] == [site.url("/a")]
    assert told.verdict == "It was linked but not crawled (off_domain): host other.example is not in scope."


def test_a_url_the_crawl_never_saw_is_told_with_what_its_rules_would_say(crawler: Engine, site: Site) -> None:
    lay(site, {"/": []})
    site.set_robots("User-agent: *\nDisallow: /private/\n")
    crawl = crawler.crawl(site.url(), exclude_patterns=["/x/"])

    def told(path: str) -> Explanation:
        return explain(crawler, crawl, site.url(path))

    assert told("/x/1").ruling.refused_by == "exclude pattern '/x/'"
    assert told("/x/1").verdict.startswith("The crawl never saw it and would not crawl it (excluded)")
    assert told("/private/1").ruling.refused_by == "robots.txt, line 2: Disallow: /private/"
    assert told("/a/a/a/b").reason is Reason.TRAP
    assert told("/fine").ruling == told("/fine").ruling.model_copy(
        update={"admitted_by": "in scope", "refused_by": None}
    )
    assert "no page, sitemap or redirect led there" in told("/fine").verdict


def test_a_url_too_deep_and_one_of_a_trap_are_told_with_their_rules(crawler: Engine, site: Site) -> None:
    deep = "/" + "/".join(f"s{n}" for n in range(21))
    lay(site, {"/": ["/a", deep], "/a": ["/b"]})
    crawl = crawler.crawl(site.url(), max_depth=1, use_sitemaps=False)
    below = explain(crawler, crawl, site.url("/b"))
    assert (below.reason, below.depth, below.parent) == (Reason.MAX_DEPTH, 2, site.url("/a"))
    assert below.ruling.refused_by == "more than 1 links from the seed"
    trap = explain(crawler, crawl, site.url(deep))
    assert (trap.reason, trap.ruling.refused_by) == (Reason.TRAP, "more than 20 path segments")


def test_a_redirect_is_told_with_where_it_leads_and_back(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/old"], "/new": []})
    site.set_fault("/old", redirect="/new")
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    old, new = explain(crawler, crawl, site.url("/old")), explain(crawler, crawl, site.url("/new"))
    assert (old.reason, old.final_url) == (Reason.REDIRECTED, site.url("/new"))
    assert old.verdict == f"It was fetched and redirects to {site.url('/new')}."
    assert old.attempts[0].meaning == "redirected"
    assert (new.source, new.parent, new.state) == (Source.REDIRECT, site.url("/old"), FetchState.DONE)


def test_a_page_that_is_not_there_is_told_with_the_answer_and_what_to_do(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/gone"]})
    site.remove("/gone", status=410)
    told = explain(crawler, crawler.crawl(site.url()), site.url("/gone"))
    assert (told.reason, told.http_status, told.ruling.admitted_by) == (Reason.NOT_FOUND, 410, "in scope")
    assert told.verdict == "It was skipped (not_found), the server answered 410."
    assert "mend or remove the links" in (told.meaning or "")


@pytest.mark.slow
def test_an_unchanged_page_is_told_with_the_version_it_still_is(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    first = crawler.crawl(site.url())
    before = explain(crawler, first, site.url("/a"))
    told = explain(crawler, crawler.again(first), site.url("/a"))
    assert before.stored is not None
    assert told.stored is not None
    assert (told.reason, told.stored.unchanged) == (Reason.UNCHANGED, True)
    assert told.stored.version_id == before.stored.version_id
    assert told.verdict == "It was fetched and had not changed."


@pytest.mark.slow
def test_an_earlier_crawl_is_explained_by_the_links_of_its_own_time(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/b"], "/a": [], "/b": ["/a"]})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/b": page(title="/b", body="another text, and no link")})
    second = crawler.again(first)
    assert [m.page for m in explain(crawler, first, site.url("/a")).mentions] == [site.url("/b")]
    assert explain(crawler, second, site.url("/a")).mentions == ()


def test_each_try_of_a_failing_url_is_told(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/busy"], "/busy": []})
    site.set_fault("/busy", times=1, status=503, retry_after=1)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    told = explain(crawler, crawl, site.url("/busy"))
    assert [(a.status, a.meaning) for a in told.attempts] == [(503, "the host asked to be left alone"), (200, "done")]
    assert told.attempt_count == 2


@pytest.mark.slow
def test_a_try_without_an_answer_is_told(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/slow"], "/slow": []})
    site.set_fault("/slow", times=1, hang=True)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    told = explain(crawler, crawl, site.url("/slow"))
    assert [(a.status, a.meaning) for a in told.attempts] == [(None, "no answer, tried again later"), (200, "done")]
    assert told.attempts[0].elapsed_ms is not None
    assert told.attempts[0].elapsed_ms >= 900


def test_spellings_that_were_merged_are_told_and_lead_to_the_same_answer(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/b"], "/b": ["/A/", "/a?utm_source=x"], "/a": []})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    told = explain(crawler, crawl, site.url("/a"))
    assert told.variants == (site.url("/A/"), site.url("/a?utm_source=x"))
    assert [mention.page for mention in told.mentions] == [site.url("/b")]
    assert explain(crawler, crawl, site.url("/A/?x=1#part")) == told


def test_a_link_nobody_may_follow_is_told(crawler: Engine, site: Site) -> None:
    lay(site, {"/": '<html><body><a href="/shy" rel="nofollow">x</a><a href="/a">y</a></body></html>', "/a": []})
    told = explain(crawler, crawler.crawl(site.url(), use_sitemaps=False), site.url("/shy"))
    assert not told.known
    assert [mention.followed for mention in told.mentions] == [False]
    assert told.verdict == "It was linked but not crawled: every link to it says nofollow."


def test_the_homepage_of_a_big_site_is_told_with_the_first_of_its_links_and_their_number(
    crawler: Engine, site: Site
) -> None:
    paths = [f"/p{n}" for n in range(30)]
    lay(site, {"/": paths, **{path: ["/"] for path in paths}})
    told = explain(crawler, crawler.crawl(site.url(), use_sitemaps=False), site.url())
    assert (told.source, told.parent, told.ruling.admitted_by) == (Source.SEED, None, "homepage")
    assert (len(told.mentions), told.mention_count) == (10, 30)


def test_a_url_queued_at_a_blocked_host_is_told_with_until_when(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/b"], "/b": []})
    site.set_fault("/a", status=429, retry_after=100)
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0.2, "use_sitemaps": False})
    while "/a" not in asked(site):
        crawler.shift()
    told = explain(crawler, crawl, site.url("/b"))
    assert told.state is FetchState.QUEUED
    assert told.waits is not None
    assert told.waits.why == "blocked"
    assert 90 <= (told.waits.seconds or 0) <= 100
    assert host_of(site) in told.verdict


@pytest.mark.parametrize(("what", "why"), [("host", "crawler host resume"), ("crawl", "resume the crawl")])
def test_a_url_that_waits_for_somebody_says_for_whom(crawler: Engine, site: Site, what: str, why: str) -> None:
    crawl = crawler.start(crawler.project(site.url()))
    if what == "host":
        crawler.tools.hosts.control.pause(host_of(site))
    else:
        crawler.tools.crawls.control.pause(crawl.id)
    told = explain(crawler, crawl, site.url())
    assert told.waits is not None
    assert (told.waits.why, told.waits.before, told.waits.seconds) == ("paused", 0, None)
    assert why in told.verdict


def test_the_place_in_the_queue_is_told(crawler: Engine, site: Site) -> None:
    crawl = crawler.start(
        crawler.project(None),
        urls=[site.url(f"/{n}") for n in range(5)],
        config={"delay_seconds": 1, "respect_robots_txt": False},
    )
    for number in range(5):
        told = explain(crawler, crawl, site.url(f"/{number}"))
        assert told.waits is not None
        assert (told.waits.why, told.waits.before) == ("ready", number)


def test_a_url_the_frontier_lost_is_told(crawler: Engine, site: Site) -> None:
    crawl = crawler.start(crawler.project(site.url()))
    crawler.tools.redis.flushall()
    told = explain(crawler, crawl, site.url())
    assert told.waits is not None
    assert told.waits.why == "lost"


def test_a_retry_is_told_with_its_time(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    site.set_fault("/a", hang=True)
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0, "use_sitemaps": False})
    while not any(row["kind"] == "p" and row["status"] is None for row in crawler.rows("SELECT * FROM request_log")):
        crawler.shift()
    told = explain(crawler, crawl, site.url("/a"))
    assert told.waits is not None
    assert told.waits.why == "retry"
    assert 0 <= (told.waits.seconds or 0) <= 9
    assert len(told.attempts) >= 1


def test_what_was_pruned_is_not_called_unseen(crawler: Engine, site: Site) -> None:
    lay(site, {"/": []})
    crawl = crawler.crawl(site.url())
    crawler.rows("DELETE FROM crawl_discovered_urls WHERE crawl_job_id = :id RETURNING 1", id=crawl.id)
    assert "no longer kept" in explain(crawler, crawl, site.url()).verdict


def test_a_url_that_was_too_long_can_still_be_asked_about(crawler: Engine, site: Site) -> None:
    long = "/" + "a" * 2100
    lay(site, {"/": [long]})
    told = explain(crawler, crawler.crawl(site.url(), use_sitemaps=False), site.url(long))
    assert (told.known, told.reason, told.parent) == (True, Reason.TOO_LONG, site.url("/"))


def test_what_cannot_be_explained_is_one_sentence(crawler: Engine, site: Site) -> None:
    with pytest.raises(NotFound, match="There is no crawl"):
        crawler.tools.crawls.explain_url(uuid4(), site.url())
    for bad in ("nonsense", "ftp://example.org/", "http://u:p@example.org/"):
        with pytest.raises(InvalidUrl):
            crawler.tools.crawls.explain_url(uuid4(), bad)


def test_a_fetch_only_crawl_says_that_only_given_urls_are_fetched(crawler: Engine, site: Site) -> None:
    lay(site, {"/a": ["/b"], "/b": []})
    crawl = crawler.crawl(site.url(), urls=(site.url("/a"),))
    assert explain(crawler, crawl, site.url("/a")).source is Source.LIST
    told = explain(crawler, crawl, site.url("/b"))
    assert (told.known, told.ruling.refused_by) == (False, "only the given URLs are fetched")


def test_other_crawls_and_complaints_at_the_host_are_part_of_the_wait(crawler: Engine, site: Site) -> None:
    lay(site, {"/": []})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    (row,) = crawler.ledger(crawl).values()
    (sent,) = crawler.rows("SELECT at FROM request_log WHERE kind = 'p'")
    crawler.rows(
        "UPDATE crawl_discovered_urls SET found_at = :found WHERE crawl_job_id = :id RETURNING 1",
        found=sent["at"] - timedelta(minutes=5),
        id=crawl.id,
    )
    crawler.rows(
        "INSERT INTO request_log (at, crawl_id, host, kind, lane, status) "
        "VALUES (:at, :other, :host, 'p', 'http', 429) RETURNING 1",
        at=sent["at"] - timedelta(minutes=1),
        other=uuid4(),
        host=host_of(site),
    )
    told = explain(crawler, crawl, row["url"])
    assert told.waited is not None
    assert told.waited.seconds == 300
    assert (told.waited.requests_of_other_crawls, told.waited.complaints) == (1, 1)


def test_strangers_hosts_and_paths_with_odd_letters_are_found(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/50%25_off", "/a_b", "/axb"], "/50%25_off": [], "/a_b": [], "/axb": []})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    for path in ("/50%25_off", "/a_b"):
        told = explain(crawler, crawl, site.url(path))
        assert told.known
        assert told.variants == (), "an underscore stands for itself"
        assert len(told.attempts) == 1


@pytest.mark.slow
def test_a_url_that_was_only_probed_is_told_with_when_the_answer_and_the_class(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/gone", "/alive", "/moved", "/out"], "/gone": [], "/alive": [], "/moved": [], "/out": []})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/": []})
    site.remove("/gone", status=410)
    site.set_fault("/moved", redirect="/")
    project = crawler.tools.store.get_project(first.project_id)
    config = {"delay_seconds": 0, "use_sitemaps": False, "exclude_patterns": ["/out"]}
    second = crawler.run(crawler.start(project, config=config))

    gone = explain(crawler, second, site.url("/gone"))
    assert not gone.known
    assert gone.verdict == "The crawl did not meet it, but an earlier one had it: gone (answer 410)."
    assert gone.probe is not None
    assert (gone.probe.purpose, gone.probe.outcome, gone.probe.http_status) == ("missing", "gone", 410)
    (request,) = [request for request in site.requests() if request.path == "/gone"][1:]
    assert gone.probe.at is not None
    assert abs(gone.probe.at.timestamp() - request.arrived) < 1
    words = {path: explain(crawler, second, site.url(path)).probe for path in ("/alive", "/moved", "/out", "/")}
    assert words["/alive"] is not None
    assert words["/alive"].words == "alive: nothing links to it any more, but it answers (answer 200)"
    assert words["/moved"] is not None
    assert words["/moved"].words == f"moved: it redirects to {site.url('/')} (answer 302)"
    assert words["/out"] is not None
    assert (words["/out"].outcome, words["/out"].at) == ("excluded", None)
    assert words["/"] is None, "nobody probed it"


def test_a_page_that_failed_says_that_the_next_crawl_knows_it_as_a_page(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    site.set_fault("/a", status=500)
    told = explain(crawler, crawler.again(first), site.url("/a"))
    assert told.known
    assert told.probe is not None
    assert told.probe.words == "not reached: the crawl met it in vain; that it was a page is kept for the next crawl"


def test_a_second_look_is_told(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    crawl = crawler.crawl(site.url(), use_sitemaps=False, learn_noise=True)
    told = explain(crawler, crawl, site.url("/a"))
    assert told.probe is not None
    assert told.probe.words == "fetched a second time, to learn what differs by itself (answer 200)"
    assert len(told.attempts) == 1, "a second look is no attempt"
