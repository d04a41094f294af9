"""How many of the URLs that it finds a crawl keeps.

Each is a row in Postgres and takes memory in Redis, which all projects share, and a page may name thousands of others
that nobody will ever fetch. What is kept is far more than a crawl can fetch before it has `max_pages`.
"""

FOUND_PER_PAGE = 100
LEAST_FOUND = 100_000
USUAL_LENGTH = 256


def most_found(max_pages: int) -> int:
    return max(LEAST_FOUND, FOUND_PER_PAGE * max_pages)


def is_kept(kept: int, max_pages: int, *, is_queued: bool) -> bool:
    """Whether a URL is kept, with so many others before it.

    Of those that are not fetched anyway as many as `most_found`, and then as many again of those that wait: links that
    are refused, and a sitemap full of them, never take the place of pages.
    """
    most = most_found(max_pages)
    return kept < (2 * most if is_queued else most)


def room_of(url: str) -> int:
    """How many URLs this one counts for. With one long `<base>` a page names thousands of long ones in a few bytes."""
    return 1 + len(url) // USUAL_LENGTH
