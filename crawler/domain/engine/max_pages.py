"""`max_pages`: how many pages a crawl may store, and how many requests it may spend on them. Also called its budget.

The limit holds over all workers at once, so it is enforced where they meet:

- a page is paid for when its URL is claimed (`adapters/frontier/lua`): `lease_fresh` in `serving.lua` takes it, and
  `hindrance` in `pair_rules.lua` says `budget` when nothing is left;
- a URL that became no page gives it back: `refund` in `lua/crawls.lua`;
- whatever Redis forgot, the commit refuses one page too many: the fence in `adapters/engine/count_commit.py`;
- the crawl then ends with the reason `max_pages`: `handlers/crawls/finish_crawl.py`.

The ceiling an operator sets (CRAWLER_MAX_PAGES_CEILING) is checked when a crawl or project is made:
`CrawlConfig.within` in `domain/crawls/crawl.py`.
"""

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.frontier import Limits
from crawler.domain.rendering.signals import lane_of

FETCHES_PER_PAGE = 3
"""Requests for each page that may be stored: redirects and failures cost requests, too."""


def limits_of(crawl: CrawlJob) -> Limits:
    """What a crawl may do, as the frontier needs to know it."""
    config = crawl.config
    return Limits(
        max_pages=config.max_pages,
        max_fetches=config.max_pages * FETCHES_PER_PAGE,
        max_concurrent=config.max_concurrent,
        delay_ms=round(config.delay_seconds * 1000),
        respect_robots=config.respect_robots_txt,
        lane=lane_of(crawl),
    )
