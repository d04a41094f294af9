"""How much of a site a crawl takes, where the typed address could be read as a part of it."""

import re
import shlex

from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.urls.url import Url, parse

_LONGEST_PART = 100
"""Characters of a path that are written into a command."""


def scope_words(crawl: CrawlJob) -> str | None:
    """A sentence for a crawl that begins at a path and is not kept to it; None where nothing is unexpected."""
    config = crawl.config
    is_kept = config.path_prefix or config.include_patterns or config.max_depth == 0 or config.max_pages == 1
    if crawl.crawl_type is CrawlType.FETCH_ONLY or is_kept or not config.follow_links:
        return None
    seed = parse(crawl.seed_url)
    return None if seed.path == "/" else f"It begins there, and takes all of {seed.host}; {_narrower(seed)}."


def _narrower(seed: Url) -> str:
    part = seed.path[: seed.path.rindex("/") + 1]
    if part == "/" or len(part) > _LONGEST_PART:
        return "--depth 0 fetches that page alone"
    pattern = "".join(sign if sign.isalnum() or sign in "/-_" else re.escape(sign) for sign in part)
    return f"--include {shlex.quote(pattern)} keeps to that part"
