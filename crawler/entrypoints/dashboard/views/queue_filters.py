"""Filters of the queue's page, from the URL or a form, as a filter for the acquisition queue."""

from collections.abc import Mapping
from typing import Annotated, NamedTuple

from fastapi import Depends, Query

from crawler.domain.acquisition.entries import EntryStatus, QueueFilter
from crawler.domain.acquisition.entry_choices import Sort
from crawler.entrypoints.dashboard.forms.fields import Form
from crawler.entrypoints.http.shapes import Text
from crawler.errors import Invalid

DEFAULT_SORT = Sort.NEWEST
STATUSES = {
    EntryStatus.PENDING: ("wait", "Waiting"),
    EntryStatus.FETCHING: ("run", "Being fetched"),
    EntryStatus.FETCHED: ("info", "Fetched"),
    EntryStatus.EXTRACTING: ("run", "Being read"),
    EntryStatus.DONE: ("ok", "Done"),
    EntryStatus.FAILED: ("bad", "Failed"),
}
MOVING = (EntryStatus.FETCHING, EntryStatus.FETCHED, EntryStatus.EXTRACTING)
SORTS = (
    (Sort.NEWEST.value, "the newest first"),
    (Sort.OLDEST.value, "the oldest first"),
    (Sort.PRIORITY.value, "as they are worked off"),
)
_ACTIVE = {"yes": True, "no": False}


class View(NamedTuple):
    """Filters and sorting as they are in the URL; empty means all entries."""

    status: str = ""
    category: str = ""
    active: str = ""
    host: str = ""
    q: str = ""
    sort: str = ""

    @property
    def order(self) -> Sort:
        return Sort(self.sort) if self.sort in set(Sort) else DEFAULT_SORT

    @property
    def chosen(self) -> QueueFilter:
        return QueueFilter(
            status=EntryStatus(self.status) if self.status in set(EntryStatus) else None,
            category=self.category or None,
            active=_ACTIVE.get(self.active),
            host=self.host or None,
            prefix=self.q or None,
        )

    @property
    def is_narrow(self) -> bool:
        return self.chosen != QueueFilter()

    @property
    def api(self) -> Mapping[str, str | None]:
        """The filter as query parameters for the API's exports."""
        active = {"yes": "true", "no": "false"}.get(self.active)
        return {
            "status": self.status,
            "category": self.category,
            "active": active,
            "host": self.host,
            "prefix": self.q,
        }


def view_of(values: Mapping[str, str]) -> View:
    """The filters in a URL. An unknown value is ignored, so that the page shows all entries instead of an error."""
    told = {name: values.get(name, "").strip() for name in View._fields}
    told["status"] = told["status"] if told["status"] in set(EntryStatus) else ""
    told["active"] = told["active"] if told["active"] in _ACTIVE else ""
    told["sort"] = told["sort"] if told["sort"] in set(Sort) and told["sort"] != DEFAULT_SORT else ""
    return View(
        told["status"], told["category"][:64], told["active"], told["host"][:260], told["q"][:2000], told["sort"]
    )


def _from_query(
    status: Annotated[Text, Query(max_length=30)] = "",
    category: Annotated[Text, Query(max_length=64)] = "",
    active: Annotated[Text, Query(max_length=10)] = "",
    host: Annotated[Text, Query(max_length=260)] = "",
    q: Annotated[Text, Query(max_length=2000)] = "",
    sort: Annotated[Text, Query(max_length=20)] = "",
) -> View:
    return view_of(View(status, category, active, host, q, sort)._asdict())


def view_of_form(form: Form) -> View:
    """The filters in a form for a bulk action.

    An unknown value is an error here: ignoring it would change all entries.
    """
    told = {name: form.text(name).strip() for name in View._fields}
    if told["status"] and told["status"] not in set(EntryStatus):
        raise Invalid("No entry has such a status; nothing was done. Choose the entries again.")
    if told["active"] and told["active"] not in _ACTIVE:
        raise Invalid("Entries are switched on (yes) or off (no); nothing was done. Choose the entries again.")
    return view_of(told)


Looked = Annotated[View, Depends(_from_query)]
