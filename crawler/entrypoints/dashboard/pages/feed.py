"""`/feed`: further entries of the feed of changes, and the buttons that mark them as read or accept them.

Entries are made when a crawl is compared: `domain/changes/feed.py`.
"""

import json
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from crawler.domain.api_keys import ApiKey
from crawler.entrypoints.dashboard.forms.fields import Sent
from crawler.entrypoints.dashboard.serving.render import go, is_part, page
from crawler.entrypoints.dashboard.views.feed import LINES, PAGES, shown_feed
from crawler.entrypoints.http.access import OwnCrawl, Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.shapes import Text

router = APIRouter()


@router.get("/feed")
def feed(
    request: Request,
    caller: Caller,
    tools: Tools,
    view: Annotated[str, Query(max_length=10)] = "",
    cursor: Annotated[Text | None, Query(max_length=2000)] = None,
    period: Annotated[str, Query(max_length=10)] = "",
) -> Response:
    template = "parts/feed_entries.html" if is_part(request) else "feed.html"
    return page(request, template, **shown_feed(tools, caller, view, cursor, period))


@router.post("/feed/read")
def read_all(caller: Caller, tools: Tools) -> Response:
    tools.changes.feed.mark_all_read(tools.clock(), caller.project_ids)
    return go("/", "feed-read")


@router.post("/feed/{crawl_id}/read")
def read(request: Request, caller: Caller, crawl: OwnCrawl, tools: Tools, form: Sent) -> Response:
    """Read, or unread again."""
    tools.changes.feed.mark_read([crawl.id], tools.clock(), read=not form.flag("unread"))
    return _entry(request, caller, crawl, tools)


@router.post("/feed/{crawl_id}/accept")
def accept(request: Request, caller: Caller, crawl: OwnCrawl, tools: Tools) -> Response:
    tools.changes.feed.accept(crawl.id, tools.clock())
    tools.projects.manage.change(crawl.project_id, {"flagged_for_review": False})
    return _entry(request, caller, crawl, tools)


def _entry(request: Request, caller: ApiKey, crawl: OwnCrawl, tools: Tools) -> Response:
    """The entry as it is now, in its place, and how many are unread; without scripts, the list again."""
    entry = tools.changes.feed.find(crawl.id)
    if not is_part(request) or entry is None:
        return go("/")
    answer = page(request, "parts/feed_entry.html", entry=entry, feed_pages=PAGES, feed_lines=LINES)
    count = tools.changes.feed.count_unread
    unread = {"all": count(caller.project_ids), "project": str(crawl.project_id), "own": count([crawl.project_id])}
    answer.headers["HX-Trigger"] = json.dumps({"unread": unread})
    return answer
