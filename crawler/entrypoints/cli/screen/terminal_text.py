"""Text for a terminal: counts, durations, and crawled text that is shortened and cleaned of control characters."""

from urllib.parse import urlsplit

from rich.cells import cell_len, set_cell_size

from crawler.redaction import redact

MINUTE = 60
HOUR = 3600


def count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """A duration as text: 0.25 s, 12.3 s, 4 min 05 s, 2 h 03 min."""
    if seconds < MINUTE:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE:02d} s"
    return f"{whole // HOUR} h {whole % HOUR // MINUTE:02d} min"


def clock(seconds: float) -> str:
    """A duration as a clock: 0:07, 12:05, 1:02:03."""
    whole = int(seconds)
    minutes, rest = divmod(whole, MINUTE)
    return f"{minutes}:{rest:02d}" if whole < HOUR else f"{minutes // 60}:{minutes % 60:02d}:{rest:02d}"


def size(count_of_bytes: int) -> str:
    amount = float(count_of_bytes)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def fit(text: str, width: int) -> str:
    """The text shortened to `width`, on one line, without secrets and control characters."""
    return cut(" ".join(redact(text).split()), width)


def cut(line: str, width: int) -> str:
    return line if cell_len(line) <= width else set_cell_size(line, max(0, width - 1)).rstrip() + "…"


def fit_url(url: str, width: int) -> str:
    """A URL shortened in the middle, because the ends of one site's URLs differ."""
    line = redact(url)
    if len(line) <= width:
        return line
    head = width // 3
    tail = width - head - 1
    return f"{line[:head]}…{line[-tail:]}" if tail > 0 else line[:width]


def path_of(url: str) -> str:
    """A URL without its origin."""
    parts = urlsplit(url)
    return url[len(f"{parts.scheme}://{parts.netloc}") :] or "/"
