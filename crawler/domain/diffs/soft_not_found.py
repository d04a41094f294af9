"""Pages that answer 200 and say that there is nothing.

By a title or heading that says so and nothing else. Of a page that was another before, also by a sentence about it in
place of all that it said: then what is left is the site's frame. That a product is not to be had says nothing of its
page, unless it is the heading.
"""

import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote_plus, urlsplit

from crawler.domain.diffs.not_found_phrases import says_it
from crawler.domain.diffs.page_blocks import PageBlocks, read_blocks
from crawler.domain.diffs.page_heads import count_words, headings, page_words, parted, title_parts
from crawler.domain.pages.markup_bombs import UnparsablePage

MOST_WORDS = 200
"""A page with more to say is about something."""
MAX_BYTES = 500_000
MOST_INSTEAD = 30
"""Words in place of a page: the sentence, and what one may do about it."""
_SENTENCE = 5
"""Lines with fewer words are mostly menus."""
_LOST = 2
"""So many times the sentences that are left are lost with a page."""
_NOT_TO_BE_HAD = re.compile(r".*\b(?:product|item)\b|.*商品|(?!.*\bpage\b).*\bavailable\b", re.IGNORECASE | re.DOTALL)
_FIRST = re.compile(r".*?[.!?。！？](?=\s|$)|.*", re.DOTALL)
_QUOTES = "[\"'“”„«»‘’`]*"


def says_not_found(body: bytes, content_type: str) -> bool:
    if not body or len(body) > MAX_BYTES or "html" not in content_type.lower():
        return False
    try:
        return is_not_found(read_blocks(body, content_type))
    except UnparsablePage:
        return False


def is_not_found(page: PageBlocks) -> bool:
    return page_words(page) <= MOST_WORDS and any(map(says_it, [*title_parts(page), *headings(page)]))


def says_so_instead(old: PageBlocks, new: PageBlocks, url: str) -> bool:
    """Whether a page that said something now only says of itself that it is not there."""
    both = set(old.body) & set(new.body)
    said, lost = ([line for line in page.body if line not in both] for page in (new, old))
    if (
        not said
        or sum(map(count_words, said)) > MOST_INSTEAD
        or _in_sentences(lost) < _LOST * (_in_sentences(both) or 1)
    ):
        return False
    names = _names(url, new.title)
    return any(_tells(line, names) for line in said) and not any(_tells(line, names) for line in lost)


def _in_sentences(lines: Iterable[str]) -> int:
    return sum(words for line in lines if (words := count_words(line)) >= _SENTENCE)


def _names(url: str, title: str) -> list[str]:
    """What a sentence may call the page by, the longest first."""
    parts = urlsplit(url)
    values = (pair.rpartition("=")[2] for pair in re.split("[&;]", parts.query))
    found = [*map(unquote_plus, (parts.path.rstrip("/").rpartition("/")[2], *values)), *parted(title)]
    spelled = (spelling.strip() for name in found for spelling in (name, re.sub("[_+-]", " ", name)))
    return sorted({name for name in spelled if len(name) > 1}, key=len, reverse=True)


def _tells(line: str, names: Iterable[str]) -> bool:
    """Whether its first sentence says that the page is not there, by its name or without one."""
    found = _FIRST.match(line)
    if found is None or _NOT_TO_BE_HAD.match(found[0]):
        return False
    return any(map(says_it, _spelled(found[0], names)))


def _spelled(sentence: str, names: Iterable[str]) -> Iterator[str]:
    yield sentence
    for name in names:
        for instead in ("", "page"):
            shorter, n = re.subn(f"{_QUOTES}{re.escape(name)}{_QUOTES}", instead, sentence, flags=re.IGNORECASE)
            if n:
                yield " ".join(shorter.split())
