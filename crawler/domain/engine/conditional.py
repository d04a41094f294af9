"""When a page is asked for with conditions (ETag, Last-Modified), and when its validators are not believed.

A validator may cover less than the page: that of an article stands still when somebody edits the menu around it. So the
homepage is always asked for without conditions, and of the other pages some. If a page changed and its validators did
not, the rest of the crawl and the next one ask for everything.
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
    """Whether a page changed although its validators say that it did not."""
    etag, modified = headers.get("etag"), headers.get("last-modified")
    if previous.content_hash is None or not previous.is_conditional or previous.content_hash == content_hash:
        return False
    return etag == previous.etag if etag and previous.etag else bool(modified) and modified == previous.last_modified
