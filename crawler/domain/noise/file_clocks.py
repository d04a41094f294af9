"""Values of files that a machine writes at each request: the moment it was asked. Known by the moments of our fetches.

Nobody edits a file within two minutes before we fetch it, twice in a row, and writes down just that. A value that says
another moment, or only a day, is what the file is about.
"""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.noise.clocks import Moments

RULE = "date of the fetch"
_SLACK = timedelta(seconds=120)
_LINE = re.compile(r"(?P<path>\S+): (?P<quote>\"?)(?P<value>[^\"]{10,40})(?P=quote)")
_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)")
_EPOCH = re.compile(r"[12]\d{9}(?:\d{3}|\.\d{1,9})?")


def is_clock(edit: BlockEdit, moments: Moments) -> bool:
    """Whether a value of JSON or XML was the moment of its own fetch both times."""
    if edit.removed is None or edit.added is None or moments.old is None or moments.new is None:
        return False
    old, new = _LINE.fullmatch(edit.removed.text), _LINE.fullmatch(edit.added.text)
    if old is None or new is None or old["path"] != new["path"]:
        return False
    return _is_at(old["value"], moments.old) and _is_at(new["value"], moments.new)


def _is_at(value: str, fetched_at: datetime) -> bool:
    said = _moment(value)
    return said is not None and abs(said - fetched_at) <= _SLACK


def _moment(value: str) -> datetime | None:
    try:
        if _ISO.fullmatch(value):
            return datetime.fromisoformat(value.replace(",", "."))
        if _EPOCH.fullmatch(value):
            number = float(value)
            return datetime.fromtimestamp(number / 1000 if number > 10**11 else number, UTC)
        said = parsedate_to_datetime(value)
    except (ValueError, IndexError, OverflowError):
        return None
    return said if said.tzinfo else None
