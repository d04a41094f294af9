"""What operators set while everything runs holds for crawls that run, without a restart. The site's log judges."""

from collections.abc import Iterator

import pytest

from crawler.domain.engine.max_pages import limits_of
from crawler.domain.runtime_settings import RuntimeSettings
from crawler.errors import DatabaseUnavailable
from crawler.handlers.operating import follow_settings
from crawler.handlers.operating.follow_settings import FollowSettings
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.site.client import Site
from tests.site.log import politeness

NEW = "newname/2 (+https://example.test/new)"


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"shift_seconds": 0.3}


@pytest.fixture(autouse=True)
def looked_at_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow_settings, "EVERY_SECONDS", 0.05)


def store(crawler: Engine, **settings: object) -> None:
    crawler.tools.runtime_settings.replace(RuntimeSettings.model_validate(settings))


@pytest.mark.slow
def test_a_new_user_agent_is_sent_within_a_running_crawl_and_taken_back(crawler: Engine, site: Site) -> None:
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0.05, "max_pages": 40})
    crawler.shift_until(lambda: len(site.requests()) > 1)
    before = len(site.requests())
    store(crawler, user_agent=NEW)
    crawler.shift_until(lambda: site.requests()[-1].user_agent == NEW)
    store(crawler)
    crawler.run(crawl)
    agents = [request.user_agent for request in site.requests()]
    assert set(agents[:before]) == {"crawler-test/1 (+https://example.test/bot)"}
    assert NEW in agents
    assert agents[-1] == agents[0], "what is not set goes back to the environment's"
    assert crawler.tools.store.get_crawl(crawl.id).pages_crawled == 40


def test_robots_rules_for_the_new_name_hold_at_once(crawler: Engine, site: Site) -> None:
    site.set_robots("User-agent: newname\nDisallow: /private\n\nUser-agent: *\nAllow: /\n")
    lay(site, {"/": ["/a", "/private"], "/a": [], "/private": []})
    store(crawler, user_agent=NEW)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    assert crawler.ends(crawl) == {"/": "done", "/a": "done", "/private": "robots"}
    assert {request.user_agent for request in site.requests()} == {NEW}
    assert crawler.tools.crawls.explain_url(crawl.id, site.url("/private")).reason == "robots"


@pytest.mark.slow
def test_requests_per_host_and_hour_hold_for_every_crawl_that_runs_or_begins(crawler: Engine, site: Site) -> None:
    """36,000 an hour are a tenth of a second apart, whatever the projects' delays are."""
    running = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0, "max_pages": 6})
    store(crawler, requests_per_host_hour=36_000)
    crawler.tools.crawls.reconcile()
    later = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0, "max_pages": 6})
    crawler.run(running)
    crawler.run(later)
    found = site.politeness()["127.0.0.1"]
    assert found.keeps(0.1)
    assert found.requests >= 14
    assert found.largest_parallel == 1
    audited = crawler.tools.hosts.audit(later.id)
    assert [host.violations for host in audited] == [0]


@pytest.mark.slow
def test_a_limit_that_is_taken_back_lets_a_running_crawl_go_on_at_its_own_pace(crawler: Engine, site: Site) -> None:
    store(crawler, requests_per_host_hour=1800)
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0, "max_pages": 30})
    crawler.shift_until(lambda: site.requests() != [])
    assert len(site.requests()) == 1, "one in two seconds: its robots.txt"
    assert crawler.tools.frontier.owed_gap_ms(limits_of(crawl)) == 2000
    store(crawler)
    crawler.tools.crawls.reconcile()
    crawler.run(crawl)  # the turn that was given under the limit is kept; what follows is not held by it
    gaps = politeness(site.requests()[2:])["127.0.0.1"]
    assert gaps.requests >= 29
    assert gaps.smallest_gap < 0.1


def test_everything_in_settings_has_a_value_in_force(crawler: Engine) -> None:
    now = crawler.tools.current_settings.look()
    assert None not in now.model_dump().values()
    store(crawler, queue_batch_size=7, keep_versions=3)
    now = crawler.tools.current_settings.look()
    assert (now.queue_batch_size, now.keep_versions) == (7, 3)


def test_settings_stay_as_they_were_while_postgres_is_away() -> None:
    answers: Iterator[RuntimeSettings | DatabaseUnavailable] = iter(
        [RuntimeSettings(user_agent=NEW), DatabaseUnavailable("Postgres is away.")]
    )

    def read() -> RuntimeSettings:
        answer = next(answers)
        if isinstance(answer, DatabaseUnavailable):
            raise answer
        return answer

    follow = FollowSettings(read, RuntimeSettings(user_agent="old/1", keep_versions=0))
    told: list[str | None] = []
    follow.tell(lambda now: told.append(now.user_agent))
    assert [follow.look().user_agent, follow.look().user_agent] == [NEW, NEW]
    assert told == [NEW], "who listens hears of a change once"
