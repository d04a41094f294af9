"""What a page calls itself, in its title and headings, and how much it says below them."""

import re

from crawler.domain.diffs.page_blocks import PageBlocks

_APART = re.compile(r"\s[|–—·»-]+\s|[|»｜]|:\s")
_HEADING = re.compile(r"(?:^|>)h([1-6])\b[^>]*$")
# Of scripts that put no blanks between words.
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")
_LETTERS_A_WORD = 2


def parted(title: str) -> list[str]:
    """Sites put their name before or after what a page is called."""
    return _APART.split(title)


def title_parts(page: PageBlocks) -> list[str]:
    """A number alone that is not the first may be what the page is about, and is left out."""
    return [part for at, part in enumerate(parted(page.title)) if at == 0 or not part.strip().isdigit()]


def headings(page: PageBlocks, lowest: int = 1) -> list[str]:
    """The first line of each, down to `h` and this number; further ones are among the lines of the page."""
    blocks = (page.block(at) for at in range(len(page) - len(page.body), len(page)))
    found = ((_HEADING.search(block.place), block.text) for block in blocks)
    return [text for heading, text in found if heading and int(heading[1]) <= lowest]


def count_words(line: str) -> int:
    return line.count(" ") + 1 + len(_UNSPACED.findall(line)) // _LETTERS_A_WORD


def page_words(page: PageBlocks) -> int:
    return page.words + sum(len(_UNSPACED.findall(line)) for line in page.body) // _LETTERS_A_WORD
