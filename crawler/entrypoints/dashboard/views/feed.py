"""The feed of changes as it is shown: unread ones first if there are any, a few at a time."""

from typing import Any
from uuid import UUID

from crawler.adapters.changes.feed import Place
from crawler.bootstrap import App
from crawler.domain.api_keys import ApiKey
from crawler.domain.changes.feed import FeedEntry
from crawler.entrypoints.dashboard.views.periods import PERIODS, known, since
from crawler.entrypoints.http.cursors import InvalidCursor, decode, encode, moment

SHOWN = 5
PAGES = 4
"""Of one entry."""
LINES = 3
"""Of one page."""


def shown_feed(
    tools: App, caller: ApiKey, view: str = "", cursor: str | None = None, period: str = ""
) -> dict[str, Any]:
    """`view` is `unread` or `all`; anything else is `unread` where there is something."""
    feed, only = tools.changes.feed, caller.project_ids
    unread = feed.count_unread(only)
    view = view if view in ("unread", "all") else "unread" if unread else "all"
    found = feed.entries(
        SHOWN + 1, only=only, unread=view == "unread", before=_place(cursor), since=since(period, tools.clock())
    )
    return {
        "entries": found[:SHOWN],
        "feed_following": _cursor(found),
        "feed_view": view,
        "feed_period": known(period),
        "periods": PERIODS,
        "unread": unread,
        "feed_pages": PAGES,
        "feed_lines": LINES,
    }


def _place(cursor: str | None) -> Place | None:
    parts = decode("feed", cursor, count=2)
    if parts is None:
        return None
    try:
        return Place(moment(parts[0]), UUID(parts[1]))
    except ValueError as exc:
        raise InvalidCursor from exc


def _cursor(found: list[FeedEntry]) -> str | None:
    if len(found) <= SHOWN:
        return None
    last = found[SHOWN - 1]
    return encode("feed", last.at.isoformat(), str(last.crawl_id))
