"""Sections of a site, and which of them hardly a page was seen of."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote, urlsplit

MOST_PARAMETERS = 3
LEFT_OPEN = 4
"""For each page of a closed section that was seen all the same, so many were not."""
_SPACE = re.compile(r"[:/]")


def sections_of(url: str) -> list[str]:
    """The folders a page is in, with its host; not the root, which is no section. Where its query names the page, the
    parameters that it has in common with others, and the spaces of names in them: `/wiki?id=staff:rota` is in
    `/wiki?id=staff:`."""
    parts = urlsplit(url)
    names = [name for name in parts.path.split("/")[:-1] if name]
    found = [f"//{parts.netloc}/{'/'.join(names[: at + 1])}/" for at in range(len(names))]
    for pair in unquote(parts.query).split("&")[:MOST_PARAMETERS]:
        ends = [end.end() for end in _SPACE.finditer(pair.partition("=")[2])][:MOST_PARAMETERS]
        start = len(pair.partition("=")[0]) + 1
        found += [f"//{parts.netloc}{parts.path}?{pair[: start + end]}" for end in ends]
        found += [f"//{parts.netloc}{parts.path}?{pair}"] if pair else []
    return found


def seen_sections(urls: Iterable[str]) -> Mapping[str, int]:
    """Each section with how many of these pages are in it."""
    return Counter(section for url in urls for section in sections_of(url))


def closed_sections(urls: Iterable[str], seen: Mapping[str, int], fewest: int, most: int) -> Sequence[str]:
    """At most `most` sections that `fewest` or more of these unseen pages are in, and hardly a page that was seen; the
    largest first. No page counts for two of them."""
    left = [sections_of(url) for url in urls]
    found: list[str] = []
    while len(found) < most:
        pages = Counter(section for sections in left for section in sections)
        closed = [section for section, count in pages.items() if count >= fewest and _is_closed(seen, section, count)]
        if not closed:
            break
        largest = max(closed, key=lambda section: (pages[section], *_exactness(section)))
        found.append(largest)
        left = [sections for sections in left if largest not in sections]
    return found


def common_section(urls: Sequence[str], seen: Mapping[str, int]) -> str | None:
    """The longest that all of these unseen pages are in, and hardly a page that was seen."""
    common = set(sections_of(urls[0])).intersection(*map(sections_of, urls))
    return max((one for one in common if _is_closed(seen, one, len(urls))), key=_exactness, default=None)


def path_of(section: str) -> str:
    parts = urlsplit(section)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def _is_closed(seen: Mapping[str, int], section: str, unseen: int) -> bool:
    return seen.get(section, 0) * LEFT_OPEN <= unseen


def _exactness(section: str) -> tuple[bool, int, str]:
    return "?" not in section, len(section), section
