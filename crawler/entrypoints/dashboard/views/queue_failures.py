"""Why an entry of the acquisition queue failed: a short label, the error message, and what to do about it."""

import re
from typing import NamedTuple

from crawler.domain.acquisition.entries import QueueEntry
from crawler.domain.reason_words import MEANINGS
from crawler.domain.reasons import Reason

_CODE = re.compile(r"(?P<code>[a-z0-9_]+)(?:: | (?=\())?(?P<rest>.*)", re.DOTALL)
READING = {
    "no_text": "Selectors that match this page would help: try some on it.",
    "field_missing": "Change the category's selectors, or let the field be missing.",
    "parse": "Nothing was read of it; look at the page's source.",
    "too_large": "It has more elements than are read.",
    "timeout": "Reading took too long; simpler selectors may help.",
    "crash": "The extractor broke on it; others go on.",
    "gone": "Fetch it again to have it stored.",
    "poison": "Look into the workers' log before it is tried again.",
}


class Trouble(NamedTuple):
    """Why an entry failed: a short label, the error message, and what to do about it."""

    word: str
    said: str
    help: str


def trouble_of(entry: QueueEntry) -> Trouble | None:
    if not entry.last_error:
        return None
    found = _CODE.fullmatch(entry.last_error)
    code, said = (found["code"], found["rest"]) if found else ("", "")
    if code not in READING and code not in set(Reason):
        return Trouble("", entry.last_error, "")
    by_reading = code in READING and (entry.page_id is not None or code not in set(Reason))
    return Trouble(code.replace("_", " "), said, READING[code] if by_reading else MEANINGS.get(Reason(code), ""))
