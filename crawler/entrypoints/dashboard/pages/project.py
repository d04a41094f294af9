"""`/projects/{id}`: one project with its state, crawls and pages, and the buttons to crawl, review or delete it.

Decided in `handlers/notices/crawl_now.py` and `handlers/crawls/manage_projects.py`; the list of pages is in
`adapters/pages/reader.py`.
"""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from crawler.domain.notices.schedule import Schedule
from crawler.domain.pages.lists import PageFilter
from crawler.entrypoints.dashboard.forms.fields import Sent
from crawler.entrypoints.dashboard.serving.render import go, is_part, page
from crawler.entrypoints.dashboard.views.channel_warnings import channel_warnings
from crawler.entrypoints.dashboard.views.run_history import MOST_SLOTS, kind_of
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.cursors import decode, decode_id, encode
from crawler.entrypoints.http.shapes import PageStatus, Text

router = APIRouter()

CRAWLS = 12
PAGES = 50
Cursor = Annotated[Text | None, Query(max_length=8000)]
Search = Annotated[Text, Query(max_length=200)]


@router.get("/projects/{project_id}")
def project(request: Request, project_id: OwnProject, tools: Tools, cursor: Cursor = None) -> Response:
    before = decode_id("crawls", cursor)
    found = tools.store.get_project(project_id)
    crawls = tools.store.list_crawls(project_id, CRAWLS + 1, before)
    more = encode("crawls", str(crawls[CRAWLS - 1].id)) if len(crawls) > CRAWLS else None
    slots = tools.notices.schedules.slots(project_id, MOST_SLOTS)
    latest = crawls[0] if crawls and before is None else None
    return page(
        request,
        "parts/crawl_rows.html" if is_part(request) else "project.html",
        here="overview",
        project=found,
        crawls=crawls[:CRAWLS],
        kinds={one.id: kind_of(one, slots) for one in crawls[:CRAWLS]},
        following=more,
        latest=latest,
        progress=tools.crawls.progress.of_crawl(latest) if latest and not latest.status.is_over else None,
        schedule=(schedule := _schedule(tools.notices.schedules.find(project_id))),
        tells=tools.notices.crawl_now.tells(project_id),
        warnings=channel_warnings(tools, schedule.config, schedule.webhook_gone_at) if schedule else (),
    )


def _schedule(found: Schedule | None) -> Schedule | None:
    return found if found and found.config.enabled else None


@router.get("/projects/{project_id}/pages")
def pages(
    request: Request,
    project_id: OwnProject,
    tools: Tools,
    q: Search = "",
    prefix: Annotated[Text, Query(max_length=2000)] = "",
    status: Annotated[str, Query(max_length=20)] = "",
    pick: Annotated[bool, Query()] = False,
    cursor: Cursor = None,
) -> Response:
    """With `pick`, each page leads to the picker: for whoever looks for the page with the part to watch."""
    found = tools.store.get_project(project_id)
    after = decode("pages", cursor)
    status = status if status in set(PageStatus) else ""
    wanted = PageFilter(
        status=status or None, prefix=_key_prefix(prefix, found.website_url), contains=q.strip() or None
    )
    part = tools.pages.reader.list_pages(project_id, wanted, after[0] if after else None, PAGES + 1)
    last = part.rows[PAGES - 1].normalized_url if len(part.rows) > PAGES else part.looked_until
    return page(
        request,
        "parts/page_rows.html" if is_part(request) else "project_pages.html",
        here="pages",
        project=found,
        rows=part.rows[:PAGES],
        following=encode("pages", last) if last else None,
        filters={"q": q.strip(), "prefix": prefix.strip(), "status": status, "pick": pick},
        first=cursor is None,
    )


def _key_prefix(prefix: str, website: str | None) -> str | None:
    """The URL prefix to filter by, from a path such as /docs or a whole URL."""
    wanted = prefix.strip().lower()
    if wanted.startswith("/") and website:
        return website.rstrip("/").lower() + wanted
    return wanted or None


@router.post("/projects/{project_id}/crawl")
def start(project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    tools.hints.ping()  # Without a broker no worker gets the message: fail before the crawl's row is written.
    crawl = tools.notices.crawl_now(project_id, seed_url=form.text("seed_url") or None, quietly=form.flag("quietly"))
    return go(f"/crawls/{crawl.id}", "started")


@router.post("/projects/{project_id}/review")
def review(project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    flagged = form.flag("flagged")
    tools.projects.manage.change(project_id, {"flagged_for_review": flagged})
    return go(f"/projects/{project_id}", "flagged" if flagged else "reviewed")


@router.post("/projects/{project_id}/delete")
def delete(project_id: OwnProject, tools: Tools) -> Response:
    tools.projects.manage.delete(project_id)
    return go("/", "deleted")
