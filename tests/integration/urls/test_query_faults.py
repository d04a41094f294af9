"""Trials of query parameters and pages that are known: what was tried is watched like any other page."""

import time
from collections import Counter

import pytest

from crawler.adapters.judging.judge_pool import Limits
from crawler.bootstrap import judging
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.learned_params import MOST_LEARNED, LearnedParam, ParamRole
from crawler.domain.urls.folded_addresses import MOST_LOOKS
from tests.integration.changes.test_probes_killed import LEASE_SECONDS, die
from tests.integration.handmade import page
from tests.integration.live_engine import Engine
from tests.integration.urls.test_query_sites import FRAME, NAMES, Down, kept, served, text, told, wiki

UNANSWERED = "`product` in /item could not be tried, as its pages did not answer, so it is left out in this crawl"
SHEETS = ("Start", "Boats", "Ropes", "Sails", "Tides")


@pytest.mark.slow
def test_a_known_page_that_a_trial_asked_for_is_told_as_removed(crawler: Engine) -> None:
    """The site gives up a page and names others by a parameter of its path: the trial asks for the page itself, too."""
    moved = False

    def site(path: str, query: dict[str, str]) -> str | None:
        if path == "/":
            links = [f"/item?product={n}" for n in range(4)] if moved else ["/item"]
            return page(*links, title="Shop", body=FRAME)
        if path != "/item":
            return None
        if "product" in query:
            return page(title=f"Lamp {query['product']}", body=text(f"lamp {query['product']}"))
        return None if moved else page(title="All lamps", body=text("all lamps"))

    with served(site) as (url, _):
        first = crawler.crawl(url, use_sitemaps=False)
        assert kept(crawler, first) == ["/", "/item"]
        moved = True
        second = crawler.again(first)
        assert kept(crawler, second) == ["/", *(f"/item?product={n}" for n in range(4))]
        assert told(second) == (4, 1, 1), "nothing led to the four before"


@pytest.mark.slow
def test_an_outage_while_a_parameter_is_tried_decides_nothing_for_ever(crawler: Engine) -> None:
    is_down = True

    def site(path: str, query: dict[str, str]) -> str | None:
        if path == "/":
            return page(*(f"/item?product={n}" for n in range(4)), title="Shop", body=FRAME)
        if is_down and path == "/item":
            raise Down
        if path != "/item" or "product" not in query:
            return None
        return page(title=f"Lamp {query['product']}", body=text(f"lamp {query['product']}"))

    with served(site) as (url, _):
        first = crawler.crawl(url, use_sitemaps=False)
        assert first.stats["query_params"] == [UNANSWERED]
        is_down = False
        second = crawler.again(first)
        assert kept(crawler, second) == ["/", *(f"/item?product={n}" for n in range(4))]


@pytest.mark.slow
def test_parameters_that_no_page_was_left_for_are_said_and_tried_when_there_is_room(crawler: Engine) -> None:
    def site(path: str, query: dict[str, str]) -> str | None:
        if path == "/":
            return page("/a", "/b", "/c", *(f"/item?product={n}" for n in range(4)), title="Shop", body=FRAME)
        return page(title=path + str(query), body=text(path + str(query)))

    with served(site) as (url, _):
        first = crawler.crawl(url, use_sitemaps=False, max_pages=3)
        assert first.end_reason == "max_pages"
        assert first.stats["query_params"] == ["`product` in /item was not tried yet, so it is left out in this crawl"]
        assert first.pages_crawled == 3
        project = crawler.tools.store.get_project(first.project_id)
        second = crawler.run(crawler.start(project, config={"max_pages": 20, "use_sitemaps": False}))
        assert {f"/item?product={n}" for n in range(4)} <= set(kept(crawler, second))


@pytest.mark.slow
def test_a_crawl_at_its_limit_tries_a_few_parameters_for_the_next_one(crawler: Engine) -> None:
    """Else a site that is larger than the limit would be crawled for ever without its pages behind a query."""
    plain = [f"/plain/{n}" for n in range(60)]

    def site(path: str, query: dict[str, str]) -> str | None:
        if path == "/":
            pages = [f"/wiki?name={name}" for name in NAMES] + [f"/view?colour={n}" for n in range(6)]
            return page(*pages, *plain, title="Home", body=FRAME)
        return page(title=f"{path} {query.get('name', '')}", body=text(path + query.get("name", "")))

    with served(site) as (url, asked):
        first = crawler.crawl(url, use_sitemaps=False, max_pages=50)
        assert (first.end_reason, first.pages_crawled) == ("max_pages", 50)
        assert sum("name=" in one for one in asked) == 5, "five of its addresses"
        assert not any("colour=" in one for one in asked), "one parameter for fifty pages"
        assert first.stats["query_params"] == [
            "`name` in /wiki tells pages apart, so it is kept (titles and texts differ)",
            "`colour` in /view was not tried yet, so it is left out in this crawl",
        ]
        second = crawler.again(first)
        assert {f"/wiki?name={name}" for name in NAMES} <= set(kept(crawler, second))
        assert told(second) == (0, 0, 0), "pages beyond the limit of the crawl before are not new"
        assert "`colour` in /view does not tell pages apart" in second.stats["query_params"][1]


@pytest.mark.slow
def test_trials_that_nobody_had_time_to_read_decide_nothing_for_ever(
    crawler: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy machine says nothing about a site: what was not read today is tried again."""
    with served(wiki) as (url, _), monkeypatch.context() as busy:
        busy.setattr(judging, "SURVEY", Limits(page_seconds=0.5, total_seconds=0.0))
        first = crawler.crawl(url, use_sitemaps=False)
        (said,) = first.stats["query_params"]
        assert said.startswith("`topic` and `show` in /notes.cgi could not be tried, as their pages could not be read")
        busy.undo()
        second = crawler.again(first)
        assert {f"/notes.cgi?topic={name}" for name in NAMES[1:]} <= set(kept(crawler, second))


@pytest.mark.slow
def test_more_parameters_than_are_kept_hide_no_page(crawler: Engine) -> None:
    def site(path: str, query: dict[str, str]) -> str | None:
        if path == "/":
            links = [f"/said?n{number}=1" for number in range(MOST_LEARNED + 50)]
            return page(*links, "/zinc?zeal=1", title="Home", body=FRAME)
        return page(title=path, body=text(path)) if path in ("/said", "/zinc") else None

    with served(site) as (url, asked):
        crawl = crawler.crawl(url, use_sitemaps=False)
        assert kept(crawler, crawl) == ["/", "/said", "/zinc"]
        assert len(asked) < 20 + MOST_LOOKS
        assert told(crawler.again(crawl)) == (0, 0, 0)


@pytest.mark.slow
def test_pages_that_a_query_names_without_a_parameter_are_told_apart(crawler: Engine) -> None:
    def site(path: str, query: dict[str, str]) -> str | None:
        name = query.get("of") or next((name for name, value in query.items() if not value), "Start")
        if path not in ("/", "/pad") or name not in SHEETS:
            return None
        way = query.get("do", "")
        views = [f"/pad?do={do}&of={name}" for do in ("write", "past")]
        links = [f"/pad?{sheet}" for sheet in SHEETS]
        return page(*links, *views, title=f"{name} {way}", body=text(f"{name} {way}"))

    with served(site) as (url, asked):
        crawl = crawler.crawl(url, use_sitemaps=False)
        assert set(kept(crawler, crawl)) >= {f"/pad?{sheet.lower()}" for sheet in SHEETS}
        assert crawl.stats["query_params"][0].startswith("a query without a name")
        assert len(asked) < 60
        assert told(crawler.again(crawl)) == (0, 0, 0)


@pytest.mark.slow
def test_a_seed_is_named_by_its_query_though_all_room_is_taken(crawler: Engine) -> None:
    known = [LearnedParam(path=f"/{n}", name="x", role=ParamRole.DROPPED) for n in range(MOST_LEARNED)]
    with served(wiki) as (url, _):
        seed = f"{url}notes.cgi?topic=boats"
        project = crawler.project(seed, learned_params=[one.model_dump() for one in known], max_pages=1)
        crawl = crawler.run(crawler.start(project))
        assert kept(crawler, crawl) == ["/notes.cgi?topic=boats"]


def until_trials_wait(crawler: Engine, url: str) -> CrawlJob:
    crawl = crawler.start(crawler.project(url, use_sitemaps=False, delay_seconds=0))
    crawler.shift()
    assert not crawler.tools.crawls.finish(crawl.id).status.is_over
    assert trials(crawler, crawl)["queued"] > 1
    return crawler.tools.store.get_crawl(crawl.id)


def trials(crawler: Engine, crawl: CrawlJob) -> Counter[str]:
    rows = crawler.rows("SELECT state FROM crawl_probes WHERE crawl_id = :id AND purpose = 'trial'", id=crawl.id)
    return Counter(row["state"] for row in rows)


@pytest.mark.slow
def test_trials_that_the_frontier_lost_are_made(crawler: Engine) -> None:
    with served(wiki) as (url, _):
        crawl = until_trials_wait(crawler, url)
        crawler.tools.redis.flushdb()
        crawler.tools.crawls.reconcile()
        done = crawler.run(crawl)
        assert len(kept(crawler, done)) == 8
        assert set(trials(crawler, done)) == {"done"}
        assert told(crawler.again(done)) == (0, 0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("failpoint", ["before_commit", "after_commit", "after_complete"])
def test_a_worker_killed_with_trials_in_hand_changes_nothing(crawler: Engine, redis_url: str, failpoint: str) -> None:
    with served(wiki) as (url, asked):
        crawl = until_trials_wait(crawler, url)
        die(crawler, redis_url, failpoint)
        time.sleep(LEASE_SECONDS)
        crawler.tools.crawls.reconcile()
        done = crawler.run(crawl)
        assert len(kept(crawler, done)) == 8
        assert len(asked) < 45
        assert told(crawler.again(done)) == (0, 0, 0)


@pytest.mark.slow
def test_a_trial_that_takes_three_workers_down_does_not_keep_the_crawl_from_ending(
    crawler: Engine, redis_url: str
) -> None:
    with served(wiki) as (url, _):
        crawl = until_trials_wait(crawler, url)
        for _ in range(3):
            die(crawler, redis_url, "before_commit")
            time.sleep(LEASE_SECONDS)
            crawler.tools.crawls.reconcile()
        done = crawler.run(crawl)
        assert done.status.is_over
        assert set(trials(crawler, done)) == {"done"}
