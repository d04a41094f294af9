"""One page, one key, however it is spelled."""

from typing import Any

import pytest

from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site


def test_spellings_of_one_page_are_one_page_fetched_once_with_its_case_kept(crawler: Engine, site: Site) -> None:
    spellings = [
        "/Some/Page",
        "/some/page",
        "/Some/Page/",
        "/Some/Page#part",
        "/x/../Some/Page",
        "/Some/Page?utm_source=x",
    ]
    lay(site, {"/": [*spellings, f"HTTP://127.0.0.1:{site.port}/Some/Page"], "/Some/Page": []})
    crawl = crawler.crawl(site.url())
    assert crawler.ends(crawl) == {"/": "done", "/some/page": "done"}
    assert asked(site) == ["/", "/Some/Page"], "the first spelling is the one that is fetched"
    assert crawler.page(crawl, "/Some/Page")["normalized_url"] == site.url("/some/page")


@pytest.mark.quick(2)
@pytest.mark.parametrize(
    ("options", "keys"),
    [
        ({"query_params": "meaningful"}, {"/", "/list", "/list?page=2"}),
        ({"query_params": "meaningful", "meaningful_params": ["sort"]}, {"/", "/list", "/list?sort=up"}),
        ({"query_params": "keep"}, {"/", "/list", "/list?page=2", "/list?sort=up", "/list?page=2&sort=up"}),
        ({"query_params": "drop"}, {"/", "/list"}),
    ],
)
def test_query_parameters_tell_pages_apart_as_configured(
    crawler: Engine, site: Site, options: dict[str, Any], keys: set[str]
) -> None:
    queries = ["", "?page=2", "?sort=up", "?sort=up&page=2", "?page=2&sort=up", "?gclid=1&utm_medium=mail", "?"]
    lay(site, {"/": [f"/list{query}" for query in queries], "/list": []})
    crawl = crawler.crawl(site.url(), **options)
    assert set(crawler.ends(crawl)) == keys
    assert len(asked(site)) == len(keys)


def test_the_root_keeps_its_slash_and_is_the_homepage_with_or_without(crawler: Engine, site: Site) -> None:
    lay(site, {"/": [f"http://127.0.0.1:{site.port}", "/?utm_source=self", "/#top", f"//127.0.0.1:{site.port}/"]})
    crawl = crawler.crawl(f"http://127.0.0.1:{site.port}")
    assert list(crawler.ledger(crawl)) == [site.url("/")]
    assert asked(site) == ["/"]


def test_merged_spellings_are_counted_on_the_page_and_summed_up(crawler: Engine, site: Site) -> None:
    lay(
        site,
        {
            "/": ["/a", "/A", "/a/", "/b"],
            "/a": ["/a?ref=1", "/A", "/b"],
            "/b": ["/b?ref=2", "/c", "https://elsewhere.example/"],
            "/c": [],
        },
    )
    crawl = crawler.crawl(site.url())
    variants = {key.removeprefix(site.url("")): row["variants"] for key, row in crawler.ledger(crawl).items()}
    assert variants == {"/": 0, "/a": 3, "/b": 1, "/c": 0}
    assert (crawl.stats["merged_links"], crawl.stats["total_links"]) == (4, 8)


def test_a_recrawl_counts_the_merged_spellings_again(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a", "/A"], "/a": []})
    first = crawler.crawl(site.url())
    second = crawler.again(first)
    assert (second.stats["merged_links"], second.stats["total_links"]) == (1, 3)
