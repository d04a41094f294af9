"""Words for pages that should have been compared and were not."""

from collections.abc import Mapping, Sequence
from typing import Any

MOST_CAUSES = 3
RENEW = "The site asks to sign in again: renew the credentials of"
_CAUSES = {
    "sign_in": ("asks to sign in", "ask to sign in"),
    "error": ("shows an error", "show an error"),
    "wall": ("shows a wall against robots", "show a wall against robots"),
    "empty": ("shows nothing", "show nothing"),
    "same_page": ("shows a text that stands in place of many pages", "show one and the same text"),
    "redirect": ("leads", "lead"),
    "refused": ("was refused (401, 403 or the like)", "were refused (401, 403 or the like)"),
    "rate_limited": ("was put off (429, 503, or no time was left)", "were put off (429, 503, or no time was left)"),
    "server_error": ("answered with a server error", "answered with a server error"),
    "unreachable": ("could not be reached", "could not be reached"),
    "robots": ("is forbidden by robots.txt now", "are forbidden by robots.txt now"),
    "fetched_otherwise": (
        "was fetched in another way than before (with or without a browser, or at another address)",
        "were fetched in another way than before (with or without a browser, or at another address)",
    ),
    "needs_browser": ("needs a browser, and there was none", "need a browser, and there was none"),
    "another_type": (
        "came as another type of file, which content_types does not name",
        "came as another type of file, which content_types does not name",
    ),
    "not_reached": ("was not reached", "were not reached"),
    "failed": ("failed", "failed"),
}


def because(group: Mapping[str, Any]) -> str:
    """Why pages could not be compared: `41 below /intern/ ask to sign in at https://…`."""
    one, many = _CAUSES.get(group["cause"], _CAUSES["failed"])
    below = f" below {group['section']}" if group.get("section") else ""
    said = f"{group['pages']:,}{below} {one if group['pages'] == 1 else many}"
    if not group.get("target"):
        return said
    return f"{said} {'at' if group['cause'] == 'sign_in' else 'to'} {group['target']}"


def blind_words(*, expected: int, compared: int, why: Sequence[str], expired: str | None = None) -> str:
    """One sentence for mails, webhooks and screens. `expired`: whose credentials the site takes no more."""
    reasons = [*why[:MOST_CAUSES], *(["others for other reasons"] if len(why) > MOST_CAUSES else [])]
    pages = "1 page" if expected == 1 else f"{expected:,} pages"
    seen = f"Only {compared:,}" if compared else "None"
    said = f"{seen} of {pages} could be compared, because {_joined(reasons)}."
    if expired is None:
        return said
    return f"{said} {RENEW} {expired}."


def unlinked_words(pages: int, expected: int, *, is_nofollow: bool) -> str:
    why = ", because the first page marks its links as nofollow" if is_nofollow else ""
    return (
        f"No link led to {pages:,} of {expected:,} pages this time{why}: those that answered were compared, "
        "but new pages may have been missed."
    )


def limited_words(pages: int) -> str:
    if pages == 1:
        return "1 page that was known before had no room this time: the crawl stops at max_pages."
    return f"{pages:,} pages of the crawl before had no room this time: it stops at max_pages."


def no_room_words(addresses: int) -> str:
    some = "1 address that was" if addresses == 1 else f"{addresses:,} addresses that were"
    return f"{some} not there before had no room: the crawl stops at max_pages."


def given_up_words(urls: Sequence[str]) -> str:
    """The last that is heard of a page."""
    if len(urls) == 1:
        return f"Nothing links to {urls[0]}, which could not be compared for several crawls: it is no longer asked for."
    named = f"{urls[0]} and {len(urls) - 1:,} other {'page' if len(urls) == 2 else 'pages'}"
    return f"Nothing links to {named}, which could not be compared for several crawls: they are no longer asked for."


def views_words(urls: Sequence[str]) -> str:
    """The last that is heard of pages that a learned parameter leaves out."""
    ends = "query_params or meaningful_params changes it."
    if len(urls) == 1:
        return f"{urls[0]} is taken for a known page shown in another way: it is no longer watched. {ends}"
    named = f"{urls[0]} and {len(urls) - 1:,} other {'page' if len(urls) == 2 else 'pages'} of the crawl before"
    return f"{named} are taken for known pages shown in another way: they are no longer watched. {ends}"


def hash_views_words(views: int) -> str:
    if views == 1:
        return "1 view behind a # (#/…) is not crawled as a page of its own: what changes there is not seen."
    return f"{views:,} views behind a # (#/…) are not crawled as pages of their own: what changes there is not seen."


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
