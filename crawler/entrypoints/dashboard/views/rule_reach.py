"""On how many pages the block stands that somebody is about to ignore, and what it says there."""

from typing import NamedTuple
from uuid import UUID

from crawler.bootstrap import App
from crawler.domain.noise.rules import RuleKind
from crawler.domain.watching.rules import InvalidWatch, WatchOrder, read_order
from crawler.errors import JudgesBusy, TooSlowToTry

SHOWN = 3


class Reach(NamedTuple):
    pages: int
    """Where the block stands, of those that were looked at."""
    looked: int
    examples: tuple[tuple[str, str], ...]
    """Other pages where it stands, and what it says there."""


def reach_of(tools: App, project_id: UUID, kind: RuleKind, value: str, url: str) -> Reach | None:
    """Of a selector, on the first pages of the newest crawl; None if it is no selector or cannot be tried now."""
    order = _order(value) if kind is RuleKind.SELECTOR else None
    if order is None:
        return None
    try:
        found = tools.watching.preview(project_id, order).pages
    except (TooSlowToTry, JudgesBusy):
        return None
    there = [page for page in found if page.parts]
    said = [(page.url, page.fields[0].value or "") for page in there if page.url != url and page.fields]
    return Reach(len(there), len(found), tuple(one for one in said if one[1])[:SHOWN])


def _order(selector: str) -> WatchOrder | None:
    try:
        return read_order({"watch": [selector], "fields": {"block": {"selector": selector}}})
    except InvalidWatch:
        return None
