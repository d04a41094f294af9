"""What notices say about values that somebody watches, and why they were sent."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from crawler.domain.notices.mail import Section, shortened
from crawler.domain.watching.telling import TellReason

MOST_TOLD = 50
"""Reasons and values in the body of a webhook."""


def watched_sections(summary: Mapping[str, Any], reasons: Sequence[TellReason]) -> Iterator[Section]:
    """For a mail, page by page: why it was sent, then what else changed of the watched values."""
    told = _by_page((reason.url, reason.why) for reason in reasons)
    values = _by_page((one["url"], one["words"]) for one in summary.get("watched", ()))
    for url, lines in told.items():
        yield Section(f"You asked to be told: {url}", shortened(lines))
    for url, lines in values.items():
        others = [line for line in lines if line not in told.get(url, ())]
        if others:
            yield Section(f"Watched: {url}", shortened(others))
    if unread := summary.get("watch_unread"):
        yield Section("Watched, but not to be read:", shortened(unread))


def watched_payload(summary: Mapping[str, Any], reasons: Sequence[TellReason]) -> dict[str, Any]:
    """For the body of a webhook; nothing where nothing is watched."""
    told = {"told_because": [reason.as_record() for reason in reasons[:MOST_TOLD]]} if reasons else {}
    if not summary.get("watched_changes"):
        return told
    return {**told, "watched_changes": summary["watched_changes"], "watched": list(summary["watched"][:MOST_TOLD])}


def _by_page(lines: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for url, line in lines:
        found.setdefault(url, []).append(line)
    return found
