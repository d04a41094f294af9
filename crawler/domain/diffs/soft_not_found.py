"""Pages that answer 200 and say that there is nothing: by a title or heading that says so and nothing else."""

import re

from crawler.domain.diffs.not_found_phrases import says_it
from crawler.domain.diffs.page_blocks import PageBlocks, read_blocks
from crawler.domain.pages.markup_bombs import UnparsablePage

MOST_WORDS = 200
"""A page with more to say is about something."""
MAX_BYTES = 500_000
_APART = re.compile(r"\s[|–—·»-]+\s|[|»｜]|:\s")
_HEADING = re.compile(r"(?:^|>)h1\b[^>]*$")
# Of scripts that put no blanks between words.
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
_LETTERS_A_WORD = 2


def says_not_found(body: bytes, content_type: str) -> bool:
    if not body or len(body) > MAX_BYTES or "html" not in content_type.lower():
        return False
    try:
        return is_not_found(read_blocks(body, content_type))
    except UnparsablePage:
        return False


def is_not_found(page: PageBlocks) -> bool:
    return _words(page) <= MOST_WORDS and any(map(says_it, [*_title(page), *_headings(page)]))


def _words(page: PageBlocks) -> int:
    return page.words + sum(len(_UNSPACED.findall(line)) for line in page.body) // _LETTERS_A_WORD


def _title(page: PageBlocks) -> list[str]:
    """Its parts: sites put their name before or after. A number alone that is not the first may be what it is about."""
    parts = _APART.split(page.title)
    return [part for at, part in enumerate(parts) if at == 0 or not part.strip().isdigit()]


def _headings(page: PageBlocks) -> list[str]:
    """The first line of each; further ones are among the lines of the page."""
    blocks = (page.block(at) for at in range(len(page) - len(page.body), len(page)))
    return [block.text for block in blocks if _HEADING.search(block.place)]
