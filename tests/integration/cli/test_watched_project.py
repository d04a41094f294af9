"""`crawler watch URL` goes on where `crawler run URL` began, and keeps nothing of an address that does not answer."""

from collections.abc import Callable
from functools import partial

import pytest

from crawler.domain.crawls.crawl import CrawlConfig, CrawlType
from crawler.domain.crawls.project import Project
from crawler.entrypoints.cli.actions.watched_project import MOST_NAMES, own_settings
from crawler.entrypoints.cli.app import cli
from crawler.entrypoints.cli.backend.local import LocalBackend
from crawler.entrypoints.cli.error_exit import exit_status, quiet_logs
from tests.integration.handmade import lay
from tests.integration.live_engine import Engine
from tests.site.client import Site

Watch = Callable[..., tuple[int, str]]


@pytest.fixture
def watch(crawler: Engine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Watch:
    """The command where workers run: what was started is crawled when it asks for them."""
    quiet_logs()
    settings = crawler.tools.settings
    assert settings.database_url
    assert settings.redis_url
    monkeypatch.setenv("CRAWLER_DATABASE_URL", settings.database_url.get_secret_value())
    monkeypatch.setenv("CRAWLER_REDIS_URL", settings.redis_url.get_secret_value())
    monkeypatch.setenv("CRAWLER_DATA_DIR", str(settings.data_dir))
    monkeypatch.setenv("CRAWLER_EGRESS_ALLOW", "127.0.0.0/8")

    def work(_: LocalBackend) -> bool:
        for crawl in crawler.tools.store.open_crawls():
            crawler.run(crawler.tools.crawls.seed(crawl.id))
        return True

    monkeypatch.setattr(LocalBackend, "has_workers", work)

    def call(*words: str) -> tuple[int, str]:
        capsys.readouterr()
        status = exit_status(partial(cli, ["watch", *words]))
        out, err = capsys.readouterr()
        return status, " ".join((out + err).split())

    return call


def run_project(crawler: Engine, url: str, **settings: object) -> Project:
    """As 'crawler run' makes it."""
    return crawler.tools.projects.manage.create(name=url, website_url=url, settings=settings)


def test_what_was_run_is_watched_in_the_same_project_and_compared_with_it(
    crawler: Engine, site: Site, watch: Watch
) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    ran = run_project(crawler, site.url())
    first = crawler.run(crawler.start(ran, config={"delay_seconds": 0}))
    status, told = watch(site.url(), "--site")
    assert status == 0, told
    assert f"It goes on in the project {ran.name}, which 'crawler run' made" in told
    assert "The next crawl is over: 2 pages." in told
    assert crawler.tools.store.list_projects(limit=10, search=site.url()) == [crawler.tools.store.get_project(ran.id)]
    crawl = crawler.tools.store.find_latest_crawl(ran.id)
    assert crawl is not None
    assert (crawl.crawl_type, crawl.compared_to) == (CrawlType.SCHEDULED, first.id)
    status, told = watch(site.url())
    assert status == 5, "it is watched already"
    assert f"'crawler schedule set {ran.name}' changes how it is watched" in told


@pytest.mark.slow
def test_a_page_that_was_run_is_watched_alone_and_that_is_said(crawler: Engine, site: Site, watch: Watch) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    ran = run_project(crawler, site.url())
    whole = f"'crawler project set {ran.name} --site'"
    assert f"From now on that is this page alone; {whole} means all its pages again." in watch(site.url())[1]
    assert crawler.tools.store.get_project(ran.id).settings.max_pages == 1
    status, told = watch(site.url(), "--site")
    assert status == 5
    assert f"is watched already, as this page alone; {whole} means all its pages." in told


@pytest.mark.slow
def test_a_page_that_watch_made_says_how_it_becomes_its_site(crawler: Engine, site: Site, watch: Watch) -> None:
    lay(site, {"/": []})
    assert watch(site.url())[0] == 0
    (made,) = crawler.tools.store.list_projects(limit=10, search=site.url())
    status, told = watch(site.url(), "--site")
    assert status == 5
    assert f"It is one page alone; 'crawler project set {made.name} --site' means all its pages." in told
    assert "alone" not in watch(site.url())[1]


def test_a_page_that_is_watched_alone_becomes_its_whole_site_again(crawler: Engine, site: Site, watch: Watch) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    ran = run_project(crawler, site.url(), delay_seconds=0)
    watch(site.url())
    assert exit_status(partial(cli, ["project", "set", ran.name, "--site", "--max-pages", "7"])) == 0
    assert crawler.tools.store.get_project(ran.id).settings == ran.settings.model_copy(update={"max_pages": 7})


def test_settings_of_the_run_stay_and_are_named(crawler: Engine, site: Site, watch: Watch) -> None:
    lay(site, {"/": []})
    ran = run_project(crawler, site.url(), delay_seconds=0, exclude_patterns=["/x"], use_sitemaps=False)
    told = watch(site.url(), "--site")[1]
    assert "It keeps its settings (delay_seconds, exclude_patterns, use_sitemaps)." in told
    assert crawler.tools.store.get_project(ran.id).settings == ran.settings


def test_of_many_settings_the_first_are_named() -> None:
    many = {"max_pages": 7, "max_depth": 3, "use_sitemaps": False, "follow_links": False, "refresh": False}
    more = {"ingest": True, "allow_subdomains": True, "delay_seconds": 9, "max_concurrent": 1}
    named = own_settings(CrawlConfig.model_validate(many | more))
    assert named.count(",") == MOST_NAMES
    assert named.endswith("…")
    assert own_settings(CrawlConfig()) == ""


def test_a_page_that_is_not_there_is_not_watched_and_leaves_nothing_behind(
    crawler: Engine, site: Site, watch: Watch
) -> None:
    site.remove("/gone")
    before = crawler.tools.store.list_projects(limit=10)
    status, told = watch(site.url("/gone"))
    assert status == 1
    assert "HTTP 404" in told
    assert told.endswith("So it is not watched; correct the address, or try again when it answers.")
    assert "Watching" not in told
    assert crawler.tools.store.list_projects(limit=10) == before


def test_a_known_project_gets_its_settings_back_if_its_page_is_not_there(
    crawler: Engine, site: Site, watch: Watch
) -> None:
    site.remove("/gone")
    ran = run_project(crawler, site.url("/gone"))
    assert watch(ran.name)[0] == 1
    assert crawler.tools.store.get_project(ran.id).settings == ran.settings
    assert crawler.tools.notices.schedules.enabled() == []
