"""Words for a terminal: counts, times, and crawled text that fits and has no power over it."""

from urllib.parse import urlsplit

from rich.cells import cell_len, set_cell_size

from crawler.telemetry import redact

MINUTE = 60
HOUR = 3600


def count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def duration(seconds: float) -> str:
    """0.25 s, 12.3 s, 4 min 05 s, 2 h 03 min."""
    if seconds < MINUTE:
        return f"{seconds:.3g} s"
    whole = round(seconds)
    if whole < HOUR:
        return f"{whole // MINUTE} min {whole % MINUTE:02d} s"
    return f"{whole // HOUR} h {whole % HOUR // MINUTE:02d} min"


def clock(seconds: float) -> str:
    """0:07, 12:05, 1:02:03: as a watch shows it."""
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
    """As much of it as has room, on one line, without power over the terminal."""
    return cut(" ".join(redact(text).split()), width)


def cut(line: str, width: int) -> str:
    return line if cell_len(line) <= width else set_cell_size(line, max(0, width - 1)).rstrip() + "…"


def fit_url(url: str, width: int) -> str:
    """The end tells URLs of one site apart, so it is the middle that goes."""
    line = redact(url)
    if len(line) <= width:
        return line
    head = width // 3
    tail = width - head - 1
    return f"{line[:head]}…{line[-tail:]}" if tail > 0 else line[:width]


def path_of(url: str) -> str:
    """Of a site's own page: all but its origin."""
    parts = urlsplit(url)
    return url[len(f"{parts.scheme}://{parts.netloc}") :] or "/"
