"""`/queue`: entries of the acquisition queue with filters, and actions on many entries at once (retry, delete).

Bulk changes are in `adapters/acquisition/queue_store.py`, runs in `handlers/acquisition/run_queue.py`; filters in
`entrypoints/dashboard/views/queue_filters.py`.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Query, Request, Response

from crawler.adapters.acquisition.queue_overview import MOST_COUNTED
from crawler.adapters.acquisition.queue_store import place_of
from crawler.bootstrap import App
from crawler.domain.acquisition.entries import Chosen, EntryStatus, QueueFilter
from crawler.domain.acquisition.entry_choices import BulkAction
from crawler.entrypoints.dashboard.forms.fields import Form, Sent
from crawler.entrypoints.dashboard.serving.render import go, is_part, page
from crawler.entrypoints.dashboard.serving.words import plain
from crawler.entrypoints.dashboard.views.queue_failures import trouble_of
from crawler.entrypoints.dashboard.views.queue_filters import MOVING, SORTS, STATUSES, Looked, View, view_of_form
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import WholeSystem
from crawler.entrypoints.http.cursors import decode_queue_place, encode
from crawler.entrypoints.http.limits import BULK_SECONDS
from crawler.entrypoints.http.shapes import Text
from crawler.errors import Invalid

router = APIRouter(dependencies=[WholeSystem])

SHOWN = 50
MANY = 50_000
"""With so many entries the page refreshes its counts less often, because counting is slow."""


class Verb(NamedTuple):
    """A bulk action on entries: its button, icon and kind, and the question to confirm it."""

    words: str
    sign: str
    kind: str
    asks: str


VERBS = {
    BulkAction.RETRY: Verb("Fetch again", "again", "primary", "Fetch {} again?"),
    BulkAction.DEACTIVATE: Verb("Switch off", "pause", "primary", "Switch {} off?"),
    BulkAction.REACTIVATE: Verb("Switch on", "play", "primary", "Switch {} on?"),
    BulkAction.DELETE: Verb("Delete", "trash", "danger", "Delete {}?"),
}
_NUMBER = re.compile(r"[0-9]{1,18}").fullmatch


@router.get("/queue")
def queue(
    request: Request,
    tools: Tools,
    view: Looked,
    cursor: Annotated[Text | None, Query(max_length=8000)] = None,
) -> Response:
    kind = f"queue {view.order.value}"
    found = tools.acquisition.queue.list_entries(
        view.chosen, view.order, decode_queue_place(kind, view.order, cursor), SHOWN + 1
    )
    rows = found[:SHOWN]
    following = encode(kind, *place_of(rows[-1], view.order)) if len(found) > SHOWN else None
    shared: dict[str, Any] = {
        "rows": rows,
        "troubles": {row.id: trouble_of(row) for row in rows if row.status is EntryStatus.FAILED},
        "following": following,
        "first": cursor is None,
        "view": view,
        "statuses": STATUSES,
    }
    if is_part(request):
        return page(request, "parts/queue_rows.html", part=True, **shared)
    summary = tools.acquisition.overview.summary()
    return page(
        request,
        "queue.html",
        section="queue",
        here="entries",
        part=False,
        named=[(name, plain(name, 40)) for name in summary.categories],
        undefined=summary.undefined,
        handed_on=tools.acquisition.outbox.counts(),
        sorts=SORTS,
        verbs=VERBS,
        **_counts(summary.counts),
        **shared,
    )


@router.get("/queue/counts")
def counts(request: Request, tools: Tools) -> Response:
    """Asked again and again while something moves."""
    return page(request, "parts/queue_counts.html", **_counts(tools.acquisition.queue.counts()))


def _counts(found: Mapping[str, int]) -> dict[str, Any]:
    total = sum(found.values())
    return {
        "counts": found,
        "total": total,
        "moving": any(found[status.value] for status in MOVING),
        "again_seconds": 4 if total < MANY else 20,
    }


@router.post("/queue/run")
def run(tools: Tools) -> Response:
    tools.hints.ping()  # Without a broker no worker gets the batches: fail before any is made.
    taken = tools.acquisition.run_queue()
    return go("/queue", "queue-run", n=taken.entries) if taken.entries else go("/queue", "queue-idle")


@router.post("/queue/bulk")
def bulk(request: Request, tools: Tools, form: Sent) -> Response:
    action, view = _action(form), view_of_form(form)
    everything = form.flag("all")
    ids = [] if everything else _ids(form)
    if not ids and not everything:
        return go("/queue", "entries-none", **view._asdict())
    chosen = Chosen.of(ids, view.chosen if everything else None, everything=everything and not view.is_narrow)
    asked = form.flag("confirmed")
    if not asked and (everything or action is BulkAction.DELETE):
        return _ask(request, tools, action, chosen, view)
    changed = tools.acquisition.queue.change(action, chosen, after=_number(form, "after"), seconds=BULK_SECONDS)
    total = _number(form, "so_far") + changed.changed
    if changed.next_after is not None:
        return _ask(request, tools, action, chosen, view, total, changed.next_after)
    said = f"entries-{action.value}" if total else "entries-same"
    if ids and form.flag("entry") and action is not BulkAction.DELETE:
        return go(f"/queue/{ids[0]}", said, n=total)
    return go("/queue", said, n=total, **_left(action, view)._asdict())


def _ask(
    request: Request, tools: App, action: BulkAction, chosen: Chosen, view: View, so_far: int = 0, after: int = 0
) -> Response:
    """The page that confirms a bulk action which cannot be undone or reaches entries that are not shown.

    It also shows progress while many entries are changed.
    """
    return page(
        request,
        "queue_bulk.html",
        section="queue",
        action=action,
        verb=VERBS[action],
        view=view,
        ids=chosen.ids,
        count=len(chosen.ids) if chosen.ids else tools.acquisition.overview.count(_touched(action, chosen)),
        most=MOST_COUNTED,
        only_failed=action is BulkAction.RETRY and not chosen.ids and not view.status,
        so_far=so_far,
        after=after,
        statuses=STATUSES,
    )


def _touched(action: BulkAction, chosen: Chosen) -> QueueFilter:
    """The filter for those matching entries that the action would change."""
    wanted = chosen.filter or QueueFilter()
    if action is BulkAction.RETRY and wanted.status is None:
        return wanted.model_copy(update={"status": EntryStatus.FAILED})
    if action is BulkAction.DEACTIVATE and wanted.active is None:
        return wanted.model_copy(update={"active": True})
    if action is BulkAction.REACTIVATE and wanted.active is None:
        return wanted.model_copy(update={"active": False})
    return wanted


def _left(action: BulkAction, view: View) -> View:
    """The filters to show after a bulk action, without the one that no changed entry matches any more."""
    if action is BulkAction.RETRY:
        return view._replace(status="")
    if action in (BulkAction.DEACTIVATE, BulkAction.REACTIVATE):
        return view._replace(active="")
    return view


def _action(form: Form) -> BulkAction:
    try:
        return BulkAction(form.text("action"))
    except ValueError:
        raise Invalid("Say what is to be done with the entries.") from None


def _ids(form: Form) -> list[int]:
    given = form.all("id")
    if not all(_NUMBER(one) for one in given):
        raise Invalid("An entry's number has only digits.")
    return [int(one) for one in given]


def _number(form: Form, name: str) -> int:
    given = form.text(name)
    return int(given) if _NUMBER(given) else 0
