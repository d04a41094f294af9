"""What limits how much of a site a crawl could see, and what it took for one page, in words."""

from crawler.domain.crawls.crawl import CrawlJob, CrawlType

SHOWN_PARAMS = 20
MERGED_SHARE = 0.2
"""Of all links: more of them taken for other spellings is worth a word."""


def unseen_words(crawl: CrawlJob) -> str | None:
    """Why nothing behind the first page was looked for, where somebody wanted it. A sentence without its end."""
    if crawl.config.max_depth == 0 or crawl.crawl_type is CrawlType.FETCH_ONLY:
        return None
    if links := crawl.stats.get("nofollow_links", 0):
        many = f"{links:,} link{'' if links == 1 else 's'}"
        return f"The first page marks its links as nofollow ({many}), so they were not followed"
    if crawl.pages_crawled == 1 and crawl.total_discovered == 1:
        looked = "in a browser either" if crawl.rendered else "as the server sends it"
        return f"The first page links to no other page, {looked}"
    return None


def cut_words(crawl: CrawlJob) -> str | None:
    """That not all URLs are listed which were found. A sentence without its end."""
    if not crawl.stats.get("is_cut"):
        return None
    most, kept = f"{crawl.config.max_pages:,}", f"{crawl.total_discovered:,}"
    return f"More URLs were found than a crawl of at most {most} pages keeps: {kept} are listed, the others not"


def part_words(crawl: CrawlJob) -> str | None:
    """That not all of some pages was read. A sentence without its end."""
    many = crawl.stats.get("read_in_part", 0)
    if not many:
        return None
    return f"On {many:,} page{'' if many == 1 else 's'} a table or list is longer than what is read of one"


def query_words(crawl: CrawlJob) -> str | None:
    """What was found out about query parameters. A sentence without its end."""
    found = crawl.stats.get("query_params", ())
    rest = len(found) - SHOWN_PARAMS
    return "; ".join([*found[:SHOWN_PARAMS], *([f"and {rest:,} more such statements"] if rest > 0 else [])]) or None


def merged_words(crawl: CrawlJob) -> str | None:
    """How many links were taken for the addresses of other pages, where they are many. A sentence without its end."""
    merged, links = crawl.stats.get("merged_links", 0), crawl.stats.get("total_links", 0)
    if not links or merged / links <= MERGED_SHARE:
        return None
    share = f"{merged:,} of {links:,} links ({merged / links:.0%})"
    return f"{share} were taken for other spellings of the same pages"
