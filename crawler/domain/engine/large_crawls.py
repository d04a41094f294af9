"""Which crawls are so large that nobody may wait for work over all their URLs."""

from crawler.domain.crawls.crawl import CrawlJob

LARGE_URLS = 50_000
"""Work over so many URLs takes a few seconds."""


def is_large(crawl: CrawlJob) -> bool:
    return crawl.total_discovered > LARGE_URLS
