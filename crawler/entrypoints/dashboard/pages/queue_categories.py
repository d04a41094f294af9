"""`/queue/categories`: selectors by category, how often each field has a value, and a try on a stored page.

Decided in `handlers/acquisition/manage_categories.py`; the fields are in `entrypoints/dashboard/forms/selectors.py`.
"""

from typing import Annotated, Any, NamedTuple
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from crawler.bootstrap import App
from crawler.domain.acquisition.categories import CategoryShown, DryRun, checked_name
from crawler.domain.acquisition.entries import MAX_CATEGORY
from crawler.domain.acquisition.selectors import DEFAULT, SelectorSet
from crawler.entrypoints.dashboard.forms.fields import Sent
from crawler.entrypoints.dashboard.forms.selectors import FieldRow, SelectorText, selectors_of, text_of, typed
from crawler.entrypoints.dashboard.serving.render import go, is_part, page
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import WholeSystem
from crawler.entrypoints.http.shapes import Text
from crawler.errors import Conflict, Invalid, NotFound

router = APIRouter(dependencies=[WholeSystem])

EXAMPLES = 30
MOST_TEXT = 6_000
MOST_VALUES = 20
_TRIED = "tried"
"""The category's name for selectors that are tried before they are saved."""


class Attempt(NamedTuple):
    trial: DryRun | None = None
    wrong: str | None = None
    unmatched: tuple[str, ...] = ()
    """Include and exclude selectors that match nothing on the page."""
    project_id: UUID | None = None


@router.get("/queue/categories")
def categories(request: Request, tools: Tools) -> Response:
    found = tools.acquisition.manage_categories.list_all()
    return page(request, "categories.html", section="queue", here="categories", categories=found)


@router.get("/queue/category")
def category(
    request: Request,
    tools: Tools,
    name: Annotated[Text, Query(max_length=MAX_CATEGORY)] = "",
    url: Annotated[Text, Query(max_length=2000)] = "",
) -> Response:
    known = _find(tools, name.strip())
    rules = known.selectors if known else DEFAULT
    examples = _examples(tools, name.strip())
    url = url.strip() or (examples[0] if examples else "")
    attempt = _try(tools, url, rules) if url else Attempt()
    return _show(request, tools, known, name.strip(), url, text_of(rules), attempt, examples=examples)


@router.post("/queue/category")
def save(request: Request, tools: Tools, form: Sent) -> Response:
    was, name, url, text = form.text("was"), form.text("name"), form.text("url"), typed(form)
    try:
        selectors = selectors_of(text, whole=True)
        if not was:
            _refuse_known(tools, name)
        saved = tools.acquisition.manage_categories.set(was or name, selectors)
    except (Invalid, Conflict) as exc:
        attempt = _attempt(tools, url, text) if url else Attempt()
        return _show(request, tools, _find(tools, was), was or name, url, text, attempt, error=exc.message)
    return go("/queue/category", "category-saved", name=saved.name, url=url)


@router.post("/queue/category/try")
def attempt(request: Request, tools: Tools, form: Sent) -> Response:
    """What the selectors as they are typed read. Nothing is kept."""
    url, text, was = form.text("url"), typed(form), form.text("was")
    found = _attempt(tools, url, text) if url else Attempt()
    if is_part(request):
        return page(request, "parts/category_trial.html", **_trial(found), url=url, part=True)
    return _show(request, tools, _find(tools, was), was or form.text("name"), url, text, found)


@router.post("/queue/category/delete")
def delete(tools: Tools, form: Sent) -> Response:
    tools.acquisition.manage_categories.delete(form.text("name"), force=form.flag("force"))
    return go("/queue/categories", "category-deleted")


def _refuse_known(tools: App, name: str) -> None:
    if tools.acquisition.categories.find(checked_name(name)):
        raise Conflict("There is a category of that name already; open it to change it.")


def _examples(tools: App, name: str) -> list[str]:
    """URLs of stored pages to try selectors on: of this category, or of any while it has none."""
    pages = tools.acquisition.overview.read_pages
    return (pages(name, EXAMPLES) if name else []) or pages(None, EXAMPLES)


def _find(tools: App, name: str) -> CategoryShown | None:
    if not name:
        return None
    try:
        return tools.acquisition.manage_categories.show(name)
    except (NotFound, Invalid):
        return None


def _attempt(tools: App, url: str, text: SelectorText) -> Attempt:
    try:
        return _try(tools, url, selectors_of(text, whole=False))
    except Invalid as exc:
        return Attempt(wrong=exc.message)


def _try(tools: App, url: str, selectors: SelectorSet | dict[str, object]) -> Attempt:
    try:
        trial = tools.acquisition.manage_categories.try_on(_TRIED, selectors=selectors, url=url[:2000])
    except NotFound:
        return Attempt(
            wrong="Nothing is stored under this URL. Fetch it first: add it to the queue, or crawl its site."
        )
    except Invalid as exc:
        return Attempt(wrong=exc.message)
    missed = [place for place, count in trial.matches.items() if not count and not place.startswith("fields.")]
    missed.sort(key=lambda place: (place.startswith("exclude"), place))
    return Attempt(trial, None, tuple(missed), tools.acquisition.overview.project_of_page(trial.page_id))


def _trial(attempt: Attempt) -> dict[str, Any]:
    return {"attempt": attempt, "most_text": MOST_TEXT, "most_values": MOST_VALUES}


def _show(
    request: Request,
    tools: App,
    known: CategoryShown | None,
    name: str,
    url: str,
    text: SelectorText,
    attempt: Attempt,
    *,
    error: str | None = None,
    examples: list[str] | None = None,
) -> Response:
    if examples is None:
        examples = _examples(tools, name)
    return page(
        request,
        "category.html",
        200 if error is None else 422,
        section="queue",
        here="categories",
        known=known,
        name=name,
        url=url,
        text=text,
        blank=FieldRow(),
        error=error,
        examples=examples,
        unfinished=tools.acquisition.categories.unfinished(known.name) if known else 0,
        part=False,
        **_trial(attempt),
    )
