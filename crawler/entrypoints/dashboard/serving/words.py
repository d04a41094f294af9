"""Template filters: numbers, durations, times, and safe display of crawled text."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from urllib.parse import urlsplit

from crawler.domain.changes.page_digest import LineChange
from crawler.domain.diffs.word_diff import WordRun

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_DIRECTION = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_SPACE = re.compile(r"\s+")


def plain(text: object, longest: int = 160) -> str:
    """Crawled text for one line: shortened, without control characters that hide or reorder other text."""
    said = str(text)[: longest * 4 + 1000]
    said = _SPACE.sub(" ", said)
    said = _DIRECTION.sub("�", _CONTROL.sub("�", said)).strip()
    return said if len(said) <= longest else said[: longest - 1].rstrip() + "…"


def middle(text: object, longest: int = 110) -> str:
    """A crawled URL for one line, shortened in its middle: what tells pages apart stands at both ends."""
    said = plain(text, 10_000)
    if len(said) <= longest:
        return said
    tail = longest * 2 // 5
    return f"{said[: longest - tail - 1]}…{said[-tail:]}"


def visible(text: object, longest: int = 20_000) -> str:
    """Crawled text with its lines and spaces. Control characters that hide or reorder other text are marked."""
    said = _DIRECTION.sub("\ufffd", _CONTROL.sub("\ufffd", str(text)[: longest + 1].replace("\r\n", "\n")))
    return said if len(said) <= longest else said[:longest].rstrip() + "…"


def number(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if float(value).is_integer() or abs(value) >= 100 else f"{value:,.1f}"


def counted(value: int, one: str, many: str | None = None) -> str:
    return f"{value:,} {one if value == 1 else many or one + 's'}"


def size(count: int | None) -> str:
    if count is None:
        return "–"
    value = float(count)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            return f"{value:.0f} {unit}" if unit == "B" or value >= 100 else f"{value:.1f} {unit}"
        value /= 1000
    return "–"


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "–"
    if seconds < 0.95:
        return f"{max(seconds, 0) * 1000:.0f} ms" if seconds > 0 else "0 s"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    if whole < 48 * 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 86_400} days"


def ago(moment: datetime | None, now: datetime) -> str:
    """A time relative to now, such as "5 minutes ago". The page's script updates it."""
    if moment is None:
        return "never"
    seconds = (now - moment).total_seconds()
    said = _span(abs(seconds))
    if said is None:
        return "just now" if seconds >= 0 else "in a moment"
    return f"{said} ago" if seconds >= 0 else f"in {said}"


def _span(seconds: float) -> str | None:
    for unit, length, least in (("day", 86_400, 48 * 3600), ("h", 3600, 5400), ("min", 60, 60), ("s", 1, 10)):
        if seconds >= least:
            count = round(seconds / length)
            return counted(count, unit) if unit == "day" else f"{count} {unit}"
    return None


def exact(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def until(moment: datetime) -> str:
    """The end of something that lasts, short enough for a label."""
    return moment.astimezone(UTC).strftime("%-d %b, %H:%M UTC")


def is_web(url: object) -> bool:
    """Whether a URL may become a link: only http and https."""
    return str(url)[:8].lower().startswith(("http://", "https://"))


def split_url(url: str) -> tuple[str, str]:
    """Split a URL into host and path, because people look for the path."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "", url
    if not parts.scheme or not parts.netloc:
        return "", url
    rest = parts.path or "/"
    return parts.netloc, rest + (f"?{parts.query}" if parts.query else "")


@lru_cache(maxsize=500)
def word_runs(line: LineChange) -> Sequence[WordRun]:
    """The words of a short line that went, came or stayed. The same lines stand in the feed again and again."""
    return line.words
