"""`crawler run` ends with the first words that changed, not with the pages' addresses alone."""

import pytest

from crawler.domain.urls.url import parse
from crawler.entrypoints.cli.input.run_options import Order
from crawler.entrypoints.cli.watching import watch_crawl
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site


def test_a_run_shows_a_few_changed_lines_and_none_to_programs(
    crawler: Engine, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [f"/p{number}" for number in range(watch_crawl.SHOWN_PAGES + 1)]
    lay(site, {"/": paths, **{path: page(title=path, body=f"<p>Old words of {path}.</p>") for path in paths}})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {path: page(title=path, body=f"<p>New words of {path}.</p>") for path in paths})
    second = crawler.again(first)
    order = Order(parse(site.url()), "site", {})
    capsys.readouterr()
    assert watch_crawl._conclude(crawler.tools, second, order, as_json=False) == 0
    shown = capsys.readouterr().out
    assert "- Old words of /p0." in shown
    assert "+ New words of /p0." in shown
    assert shown.count("New words") == watch_crawl.SHOWN_PAGES
    assert watch_crawl._conclude(crawler.tools, second, order, as_json=True) == 0
    assert "New words" not in capsys.readouterr().out
