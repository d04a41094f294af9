"""`/`: paste an address, read what changed over all projects, and the list of projects with actions for several.

The list's states and its query are in `adapters/crawls/project_list.py`, the feed of changes in
`adapters/changes/feed.py`; what a pasted address becomes is decided in `handlers/notices/watch_url.py`.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from crawler.adapters.crawls.project_list import STATES, ProjectLine
from crawler.bootstrap import App
from crawler.domain.api_keys import ApiKey
from crawler.domain.crawls.project import checked_tags
from crawler.domain.urls.url import parse
from crawler.entrypoints.dashboard.forms.fields import Form, Sent
from crawler.entrypoints.dashboard.serving.render import go, is_part, page
from crawler.entrypoints.dashboard.views.feed import shown_feed
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.cursors import decode, encode
from crawler.entrypoints.http.shapes import Text
from crawler.errors import Conflict, EgressRefused, Forbidden, Invalid
from crawler.handlers.notices.watch_url import MOST_LINES, Watch

router = APIRouter()

SHOWN = 50
LONGEST_ADDRESS = 2000
Search = Annotated[Text, Query(max_length=200)]
State = Annotated[str, Query(max_length=20)]
Tag = Annotated[Text, Query(max_length=40)]
Cursor = Annotated[Text | None, Query(max_length=2000)]


@router.get("/")
def projects(
    request: Request,
    caller: Caller,
    tools: Tools,
    q: Search = "",
    state: State = "",
    tag: Tag = "",
    cursor: Cursor = None,
    url: Annotated[Text, Query(max_length=LONGEST_ADDRESS)] = "",
    feed: State = "",
    period: State = "",
) -> Response:
    """`url` fills the field for a new address and starts nothing: for bookmarks and other programs."""
    after = decode("project-names", cursor)
    state = state if state in STATES else ""
    rows = tools.projects.overview(
        search=q.strip(),
        state=state,
        tag=tag.strip().lower(),
        after=after[0] if after else None,
        only=caller.project_ids,
        limit=SHOWN + 1,
    )
    context: dict[str, Any] = {
        "rows": rows[:SHOWN],
        "following": _cursor(rows),
        "filters": {"q": q.strip(), "state": state, "tag": tag.strip().lower()},
        "first": cursor is None,
    }
    if is_part(request):
        return page(request, "parts/project_rows.html", **context)
    return _home(request, tools, caller, {"url": url}, {}, feed=feed, period=period, **context)


@router.post("/start")
def start(request: Request, caller: Caller, tools: Tools, form: Sent) -> Response:
    """Make a project of the pasted address and crawl it at once."""
    _must_see_all(caller)
    what = Watch.PAGE if form.text("what") == "page" else Watch.SITE
    try:
        address = _address(form)
        tools.crawls.check_known(parse(tools.notices.watch_url.address(address)))
        tools.hints.ping()  # Without a broker no worker gets the message: fail before anything is written.
        started = tools.notices.watch_url(address, what, zone=form.text("zone"))
    except (Invalid, Conflict, EgressRefused) as exc:
        rows = tools.projects.overview(only=caller.project_ids, limit=SHOWN + 1)
        context: dict[str, Any] = {
            "rows": rows[:SHOWN],
            "following": _cursor(rows),
            "filters": {"q": "", "state": "", "tag": ""},
            "first": True,
        }
        return _home(request, tools, caller, form.raw(), {"url": exc.message}, status=422, **context)
    if started.crawl is None:
        return go(f"/projects/{started.project.id}", "running-already")
    return go(f"/crawls/{started.crawl.id}", "watching" if what is Watch.PAGE else "started")


@router.get("/import")
def ask_for_list(request: Request, caller: Caller) -> Response:
    _must_see_all(caller)
    return page(request, "import.html", values={}, errors={}, found=None, most=MOST_LINES)


@router.post("/import")
def import_list(request: Request, caller: Caller, tools: Tools, form: Sent) -> Response:
    """A project and a crawl for each address of a list; what is no address is told with its value."""
    _must_see_all(caller)
    errors: dict[str, str] = {}
    tags: tuple[str, ...] = ()
    try:
        tags = checked_tags(form.text("tags").split(","))
    except ValueError as exc:
        errors["tags"] = f"{str(exc)[:1].upper()}{str(exc)[1:]}."
    lines = form.lines("urls")
    if not lines:
        errors["urls"] = "Paste one address a line."
    if errors:
        return page(request, "import.html", 422, values=form.raw(), errors=errors, found=None, most=MOST_LINES)
    tools.hints.ping()
    what = Watch.PAGE if form.text("what") == "page" else Watch.SITE
    found = tools.notices.watch_url.all(lines, what, zone=form.text("zone"), tags=tags)
    left = "\n".join(one.line for one in found.refused)
    return page(request, "import.html", values={**form.raw(), "urls": left}, errors={}, found=found, most=MOST_LINES)


def _home(
    request: Request,
    tools: App,
    caller: ApiKey,
    values: Any,
    errors: dict[str, str],
    *,
    feed: str = "",
    period: str = "",
    status: int = 200,
    **context: Any,
) -> Response:
    has_projects = bool(context["rows"]) or any(context["filters"].values())
    return page(
        request,
        "projects.html",
        status,
        values=values,
        errors=errors,
        has_projects=has_projects,
        tags=tools.projects.overview.tags(caller.project_ids) if has_projects else (),
        **(shown_feed(tools, caller, feed, period=period) if has_projects else {"entries": ()}),
        **context,
    )


def _must_see_all(caller: ApiKey) -> None:
    if caller.project_ids is not None:
        raise Forbidden("This API key is limited to its projects; it cannot make others.")


def _address(form: Form) -> str:
    text = form.text("url")
    if not text:
        raise Invalid("Paste the address of a page, for instance example.org/news.")
    if len(text) > LONGEST_ADDRESS:
        raise Invalid(f"An address has {LONGEST_ADDRESS} characters at most.")
    return text


def _cursor(rows: list[ProjectLine]) -> str | None:
    return encode("project-names", rows[SHOWN - 1].name) if len(rows) > SHOWN else None
