"""A crawl that begins at a path says that it takes the whole site, and how to keep to a part."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlType
from crawler.domain.urls.url import parse
from crawler.entrypoints.cli.screen.scope_words import scope_words


def words(url: str, kind: CrawlType = CrawlType.MANUAL, **config: Any) -> str | None:
    options, now = CrawlConfig.model_validate(config), datetime(2030, 1, 1, tzinfo=UTC)
    seed = parse(url)
    made = CrawlJob.create(
        project_id=uuid4(),
        seed_url=seed.href,
        domain=seed.host,
        crawl_type=kind,
        config=options,
        now=now,
    )
    return scope_words(made)


@pytest.mark.parametrize(
    ("url", "narrower"),
    [
        ("http://h.test/articles/", "--include /articles/ keeps to that part"),
        ("http://h.test/a/b.html?c", "--include /a/ keeps to that part"),
        ("http://h.test/v1.2/", r"--include '/v1\.2/' keeps to that part"),
        ("http://h.test/prices", "--depth 0 fetches that page alone"),
        (f"http://h.test/{'a' * 200}/", "--depth 0 fetches that page alone"),
    ],
)
def test_a_crawl_from_a_path_says_what_it_takes(url: str, narrower: str) -> None:
    assert words(url) == f"It begins there, and takes all of h.test; {narrower}."


@pytest.mark.parametrize(
    "config",
    [{"path_prefix": "/articles/"}, {"include_patterns": ["/articles/"]}, {"max_depth": 0}, {"max_pages": 1}],
)
def test_a_crawl_that_is_kept_to_a_part_says_nothing(config: dict[str, Any]) -> None:
    assert words("http://h.test/articles/", **config) is None


def test_neither_does_one_of_a_homepage_or_a_list() -> None:
    assert words("http://h.test/") is None
    assert words("http://h.test/articles/", CrawlType.FETCH_ONLY) is None
