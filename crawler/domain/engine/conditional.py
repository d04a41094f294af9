"""When a page is asked for with a condition (its ETag), and when that is not believed.

A date alone (Last-Modified) is no condition: servers call the same what is not younger than it, also an older copy that
was put back, a list without its newest entry, or a file that was built anew with the date of its source.

An ETag may cover less than the page: that of an article stands still when somebody edits the menu around it. So the
homepage is always asked for without it, and of the other pages some. If a page changed and its ETag did not, the rest
of the crawl and the next one ask for everything.
"""

from collections.abc import Mapping
from uuid import UUID

from crawler.domain.engine.ledger import Previous
from crawler.domain.urls.url import digest

ASKED_ANEW = 20
"""One page of so many is asked for without conditions, each crawl others."""


def is_asked_anew(normalized_url: str, crawl_id: UUID) -> bool:
    return int.from_bytes(digest(f"{crawl_id} {normalized_url}")[:8]) % ASKED_ANEW == 0


def validators_lied(previous: Previous, headers: Mapping[str, str], content_hash: bytes) -> bool:
    """Whether a page changed although its ETag says that it did not."""
    if previous.content_hash is None or not previous.is_conditional or previous.content_hash == content_hash:
        return False
    return bool(previous.etag) and headers.get("etag") == previous.etag
