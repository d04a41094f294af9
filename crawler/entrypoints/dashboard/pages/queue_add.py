"""`/queue/add`: add URLs to the acquisition queue by hand, or import a file through the API.

Decided in `handlers/acquisition/fill_queue.py`; which URLs are good: `new_entry` in `domain/acquisition/entries.py`.
"""

from collections.abc import Mapping, Sequence
from uuid import UUID

from fastapi import APIRouter, Request, Response

from crawler.bootstrap import App
from crawler.domain.acquisition.entries import DEFAULT_PRIORITY, LAST_PRIORITY, ImportReport, new_entry
from crawler.entrypoints.dashboard.forms.fields import Form, Sent
from crawler.entrypoints.dashboard.serving.render import go, page
from crawler.entrypoints.dashboard.serving.words import plain
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import WholeSystem
from crawler.entrypoints.http.limits import MOST_QUEUE_URLS
from crawler.errors import CrawlerError

router = APIRouter(dependencies=[WholeSystem])

PROJECTS = 200
_SAMPLE_URL = "https://example.org/"


@router.get("/queue/add")
def form(request: Request, tools: Tools) -> Response:
    return _show(request, tools, {"priority": str(DEFAULT_PRIORITY)}, {})


@router.post("/queue/add")
def add(request: Request, tools: Tools, form: Sent) -> Response:
    urls, errors = form.lines("urls"), _wrong(form)
    if errors:
        return _show(request, tools, form.raw(), errors)
    try:
        report = tools.acquisition.fill_queue.add(
            urls,
            category=form.text("category") or None,
            priority=int(form.text("priority") or DEFAULT_PRIORITY),
            project_id=UUID(form.text("project_id")) if form.text("project_id") else None,
        )
    except CrawlerError as exc:
        if exc.http_status >= 500:  # a missing server is no mistake in the form
            raise
        return _show(request, tools, form.raw(), {"": exc.message})
    if report.bad or report.duplicates:
        bad = [urls[problem.line - 1] for problem in report.problems]
        return _show(request, tools, {**form.raw(), "urls": "\n".join(bad)}, {}, report, bad)
    return go("/queue", "entries-added", n=report.added)


def _wrong(form: Form) -> dict[str, str]:
    errors: dict[str, str] = {}
    if not form.lines("urls"):
        errors["urls"] = "Which URLs? One a line, for instance https://example.org/rooms."
    elif len(form.lines("urls")) > MOST_QUEUE_URLS:
        errors["urls"] = f"At most {MOST_QUEUE_URLS:,} at once; more of them come best as a file."
    if isinstance(wrong := new_entry(_SAMPLE_URL, form.text("category")), str):
        errors["category"] = wrong
    if isinstance(wrong := new_entry(_SAMPLE_URL, "", form.text("priority")), str):
        errors["priority"] = wrong
    try:
        UUID(form.text("project_id") or str(UUID(int=0)))
    except ValueError:
        errors["project_id"] = "Choose one of the list."
    return errors


def _show(
    request: Request,
    tools: App,
    values: Mapping[str, str],
    errors: Mapping[str, str],
    report: ImportReport | None = None,
    bad: Sequence[str] = (),
) -> Response:
    return page(
        request,
        "queue_add.html",
        422 if errors else 200,
        section="queue",
        here="add",
        values=values,
        errors=errors,
        report=report,
        bad=bad,
        last_priority=LAST_PRIORITY,
        categories=[category.name for category in tools.acquisition.categories.list_all()],
        named_projects=[(str(one.id), plain(one.name, 60)) for one in tools.projects.overview(limit=PROJECTS)],
    )
