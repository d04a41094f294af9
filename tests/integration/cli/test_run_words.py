"""`crawler run` ends with the first words that changed, not with the pages' addresses alone, and learns noise."""

import itertools

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.urls.url import parse
from crawler.entrypoints.cli.input.run_options import Order
from crawler.entrypoints.cli.watching import watch_crawl
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response, serving
from tests.site.client import Site


def test_a_run_shows_a_few_changed_lines_and_none_to_programs(
    crawler: Engine, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [f"/p{number}" for number in range(watch_crawl.SHOWN_PAGES + 1)]
    lay(site, {"/": paths, **{path: page(title=path, body=f"<p>Old words of {path}.</p>") for path in paths}})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    words = dict(zip(paths, ("ash", "birch", "cedar", "elm", "fir", "hazel"), strict=False))
    lay(site, {path: page(title=path, body=f"<p>New words of {words[path]}.</p>") for path in paths})
    second = crawler.again(first)
    order = Order(parse(site.url()), "site", {})
    capsys.readouterr()
    assert watch_crawl._conclude(crawler.tools, second, order, as_json=False) == 0
    shown = capsys.readouterr().out
    assert "- Old words of /p0." in shown
    assert "+ New words of ash." in shown
    assert shown.count("New words") == watch_crawl.SHOWN_PAGES
    assert watch_crawl._conclude(crawler.tools, second, order, as_json=True) == 0
    assert "New words" not in capsys.readouterr().out


def test_a_run_shows_one_edit_of_all_pages_once(
    crawler: Engine, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [f"/p{number}" for number in range(6)]
    lay(site, {"/": paths, **{path: page(title=path, body=f"<p>Old words of {path}.</p>") for path in paths}})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {path: page(title=path, body=f"<p>New words of {path}.</p>") for path in paths})
    second = crawler.again(first)
    capsys.readouterr()
    assert watch_crawl._conclude(crawler.tools, second, Order(parse(site.url()), "site", {}), as_json=False) == 0
    assert "* on 6 pages, for example: “Old words of /p0.” → “New words of /p0.”" in capsys.readouterr().out


@pytest.mark.slow
def test_a_run_learns_noise_from_the_second_on(crawler: Engine) -> None:
    teasers = itertools.count()

    def answer(_: object, request: Request) -> bytes:
        if request.path != "/":
            return response(b"", "404 Not Found")
        teaser = ("amber", "birch", "cedar", "delta", "ember", "fjord")[next(teasers) % 6]
        text = "<p>These words stay as they are, and there are enough of them.</p>" * 3
        return response(page(title="Home", body=f"{text}<p>Our {teaser} is the best</p>").encode())

    with serving(answer) as server:
        url = server.url("/")
        project, order = crawler.project(url), Order(parse(url), url, {"use_sitemaps": False, "delay_seconds": 0})

        def run() -> CrawlJob:
            return crawler.run(watch_crawl._start(crawler.tools, project, order))

        assert not run().learns_noise, "the first is not made to wait"
        second = run()
        assert second.learns_noise
        assert second.change_summary
        assert second.change_summary["changed_page_urls"] == []
    assert crawler.tools.store.get_project(project.id).settings.learn_noise is None


@pytest.mark.slow
def test_a_project_that_learns_no_noise_learns_none(crawler: Engine, site: Site) -> None:
    lay(site, {"/": []})
    project = crawler.project(site.url(), learn_noise=False, use_sitemaps=False)
    order = Order(parse(site.url()), site.url(), {})
    for _ in range(2):
        assert not crawler.run(watch_crawl._start(crawler.tools, project, order)).learns_noise
