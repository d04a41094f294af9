"""What a request beyond a crawl's pages found out about a URL, in words (`probes`, `removals`)."""

from datetime import datetime
from typing import NamedTuple

from crawler.domain.changes.probes import Purpose
from crawler.domain.changes.removals import Removal
from crawler.domain.reason_words import meaning
from crawler.domain.reasons import Reason

_CLASSES = {
    Removal.GONE: "gone",
    Removal.ALIVE: "nothing links to it any more, but it answers",
    Removal.BLOCKED: "nobody could tell",
}
_BEYOND: dict[str, str] = {
    Purpose.AGAIN: "fetched a second time, to learn what differs by itself",
    Purpose.TRIAL: "fetched on trial, to see whether its query parameters tell pages apart",
}
"""Requests that ask for no missing page."""


class KeptProbe(NamedTuple):
    """Its row. The names are the columns'."""

    purpose: str
    state: str
    outcome: str | None
    reason: str | None
    http_status: int | None
    final_url: str | None
    at: datetime | None


def probe_words(probe: KeptProbe, *, met: bool) -> str:
    """`met`: whether the crawl itself met the URL, as a page or in vain."""
    answer = f" (answer {probe.http_status})" if probe.http_status else ""
    if why := _BEYOND.get(probe.purpose):
        waits = ": waits" if probe.state == "queued" else ""
        return f"{why}{waits}{answer}"
    if probe.state == "queued":
        return "it will be asked for once more before the crawl ends, because an earlier crawl had it"
    if probe.outcome == Removal.EXCLUDED:
        return "excluded: not asked for, because the rules leave it out now"
    if probe.outcome == Removal.NOT_REACHED or probe.outcome is None:
        return f"not reached: {_why_not_asked(probe, met=met)}"
    if probe.outcome == Removal.MOVED:
        return f"moved: it redirects to {probe.final_url}{answer}"
    kind = Removal(probe.outcome)
    if kind is Removal.ALIVE and probe.reason:
        return f"{kind}: it answers{answer}. {meaning(Reason(probe.reason))}"
    why = f": {meaning(Reason(probe.reason))}" if kind is Removal.BLOCKED and probe.reason and not answer else ""
    said = f"{_CLASSES[kind]}{why}{answer}"
    return said if kind is Removal.GONE else f"{kind}: {said}"


def _why_not_asked(probe: KeptProbe, *, met: bool) -> str:
    if probe.reason:
        return "not asked for, because its host wanted no more requests"
    if met:
        return "the crawl met it in vain; that it was a page is kept for the next crawl"
    return "not asked for: the crawl did not see the whole site, or too many pages were missing"


def probed_verdict(probe: KeptProbe) -> str:
    """What became of a URL that the crawl did not meet and an earlier one had."""
    words = probe_words(probe, met=False)
    return f"The crawl did not meet it, but an earlier one had it: {words}."
