"""`crawler run URL` crawls the project of that URL, whoever made it and whatever it is called."""

from crawler.domain.crawls.project import Project, name_after
from crawler.domain.urls.url import parse
from crawler.entrypoints.cli.input.run_options import Order
from crawler.entrypoints.cli.watching import watch_crawl
from crawler.handlers.notices.watch_url import Watch
from tests.integration.live_engine import Engine

URL = "http://127.0.0.1:9/prices"


def project_of(engine: Engine, url: str, name: str | None = None) -> Project:
    order = Order(parse(url), name or name_after(parse(url).href), {}, named_by_url=name is None)
    with watch_crawl._project(engine.tools, order) as project:
        return project


def test_a_url_that_is_watched_is_run_in_the_same_project(crawler: Engine) -> None:
    watched = crawler.tools.notices.watch_url(URL, Watch.PAGE).project
    assert watched.name == "127.0.0.1:9/prices"
    assert project_of(crawler, URL).id == watched.id
    assert project_of(crawler, URL, "Prices").id != watched.id, "a name that is given decides"


def test_a_url_that_nobody_watches_gets_a_project_and_keeps_it(crawler: Engine) -> None:
    first = project_of(crawler, URL)
    assert first.name == URL
    crawler.tools.notices.watch_url(URL, Watch.PAGE)
    assert project_of(crawler, URL).id == first.id
    assert project_of(crawler, f"{URL}/more").id != first.id
