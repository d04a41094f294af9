"""One text in place of many pages that had texts of their own, such as a sign-in page: no page changed to it.

All that the pages said themselves must be gone; what many of them keep is the site's frame. Then it is a wall if

- it asks who is there, by its words on many pages, or by a field for a password on a few;
- or it is a web page, and what was there were files, such as texts or PDFs: nobody edits several files into one page;
- or it stands in place of most of the site. That four products are withdrawn is said with one text, too, so there must
  be many of them, and the more of them if the frame of the site is kept around it.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from crawler.domain.diffs.replaced_text import Replaced
from crawler.domain.diffs.walls import Wall
from crawler.domain.noise.page_noise import FilteredPage
from crawler.domain.noise.template_changes import is_template

OWN_TEXTS = 0.5
"""The share of different texts that the pages behind a wall must have had."""
SHARED_LINES = 0.8
"""The share of pages that a line must be on to be one of the wall's."""
SAME_WORDS = 0.5
"""The share of its words that a page must have in common with the wall."""
FRAME = 0.5
"""The share of pages that must keep a line for it to be one of the site's frame."""
KEPT_WORDS = 0.25
"""How much of what a page lost it may keep: a title, a heading."""
LOST_ALONE = 0.5
"""How much a single page must have lost, for each word that it kept, if its title is another one."""
FEWEST = 3
FEWEST_WITHOUT_QUESTION = 10
MOST_OF_SITE = 0.5
NEARLY_ALL = 0.8
_MAY_BE_SHARED = frozenset({None, Wall.SAME, Wall.SIGN_IN})


def with_shared_walls(
    pages: Mapping[str, FilteredPage], compared: int, *, has_credentials: bool = False
) -> dict[str, FilteredPage]:
    """Pages with a wall marked that many of them share, when it comes and when it goes.

    `has_credentials`: the site let us in before, so a page that asks for a password instead is a wall by itself.
    """
    fewest = 1 if has_credentials else FEWEST
    before, now = (_behind(pages, side, compared, fewest) for side in (0, 1))
    found = before | now
    return {
        url: marked(page, found[url], passed=url not in now) if url in found else page for url, page in pages.items()
    }


def marked(page: FilteredPage, wall: Wall, *, passed: bool = False) -> FilteredPage:
    return page._replace(wall=wall, edits=(), clock=(), is_truncated=False, passed=passed, returned=False)


class Group(NamedTuple):
    """Pages that say the same on one side, in place of nearly all that they say on the other."""

    urls: Sequence[str]
    texts: Mapping[str, Replaced]
    side: int
    frame: frozenset[int] = frozenset()
    """What stayed on most of them."""

    def lost_words(self, url: str) -> int:
        return self.texts[url].sides[1 - self.side].words

    @property
    def had_own_texts(self) -> bool:
        return len({self.texts[url].sides[1 - self.side].exactly for url in self.urls}) >= OWN_TEXTS * len(self.urls)

    def most(self, flags: Iterable[bool]) -> bool:
        return sum(flags) > len(self.urls) / 2


def _behind(pages: Mapping[str, FilteredPage], side: int, compared: int, fewest: int) -> dict[str, Wall]:
    """Pages that say the same on this side and did not on the other. That there is no such page was no wall."""
    found: dict[str, Wall] = {}
    for group in groups(pages, side):
        wall = _judge(group, compared) if len(group.urls) >= fewest else None
        if wall:
            found |= dict.fromkeys(group.urls, wall)
    return found


def groups(pages: Mapping[str, FilteredPage], side: int) -> Iterator[Group]:
    texts = {
        url: page.texts
        for url, page in pages.items()
        if page.texts and _may_be_behind(page.texts, page.wall, side) and (side or not page.returned)
    }
    texts = _as_most_say(texts, side)
    for urls in _saying_the_same(texts, side):
        group = Group(urls, texts, side)
        group = group._replace(frame=_frame(group))
        replaced = [url for url in urls if _is_replaced(group, url)]
        if replaced:
            yield group._replace(urls=replaced)


def _may_be_behind(texts: Replaced, wall: Wall | None, side: int) -> bool:
    own = texts.sides[side]
    # A form has hardly any words: it looks empty.
    is_open = wall in _MAY_BE_SHARED or (wall is Wall.EMPTY and own.asks_password)
    return is_open and bool(own.lines) and texts.sides[1 - side].words > 0


def _as_most_say(texts: Mapping[str, Replaced], side: int) -> dict[str, Replaced]:
    """Each line with the words of its page's title or without them, whichever more pages have."""
    common = Counter(
        line
        for one in texts.values()
        for line in {*one.sides[side].whole, *(masked for masked, _ in one.sides[side].lines)}
    )
    return {url: one.with_lines(side, common) for url, one in texts.items()}


def _saying_the_same(texts: Mapping[str, Replaced], side: int) -> list[list[str]]:
    """Groups of pages by the line that most pages have; each with pages that mostly say what the group says."""
    common = Counter(line for one in texts.values() for line, _ in one.sides[side].lines)
    groups: dict[int, list[str]] = defaultdict(list)
    for url, one in texts.items():
        groups[max((line for line, _ in one.sides[side].lines), key=lambda line: (common[line], line))].append(url)
    return [_alike(urls, texts, side) for urls in groups.values()]


def _alike(urls: Sequence[str], texts: Mapping[str, Replaced], side: int) -> list[str]:
    counted = Counter(line for url in urls for line, _ in texts[url].sides[side].lines)
    wall = {line for line, pages in counted.items() if pages >= SHARED_LINES * len(urls)}
    return [url for url in urls if _share(texts[url], side, wall) >= SAME_WORDS]


def _share(one: Replaced, side: int, lines: set[int]) -> float:
    own = one.sides[side]
    said = sum(words for line, words in own.lines if line in lines)
    return said / max(sum(words for _, words in own.lines), 1)


def _frame(group: Group) -> frozenset[int]:
    counted = Counter(line for url in group.urls for line, _ in group.texts[url].kept_lines)
    return frozenset(line for line, pages in counted.items() if pages > FRAME * len(group.urls))


def _is_replaced(group: Group, url: str) -> bool:
    """Whether hardly anything is left of what the page itself said."""
    one, lost = group.texts[url], group.lost_words(url)
    if len(group.urls) < FEWEST:  # nobody knows what is frame
        kept = sum(words for _, words in one.kept_lines)
        return kept <= KEPT_WORDS * lost or (not one.title_kept and lost >= LOST_ALONE * kept)
    return sum(words for line, words in one.kept_lines if line not in group.frame) <= KEPT_WORDS * lost


def _judge(group: Group, compared: int) -> Wall | None:
    pages = len(group.urls)
    sides = [group.texts[url].sides[group.side] for url in group.urls]
    if group.most(side.asks_password for side in sides) and (pages < FEWEST or group.had_own_texts):
        return Wall.SIGN_IN
    if pages < FEWEST or not group.had_own_texts:
        return None
    if group.most(side.replaces_file for side in sides):
        return Wall.SAME
    if group.most(side.asks_who for side in sides) and is_template(pages, compared):
        return Wall.SAME
    return Wall.SAME if _is_most_of_site(group, compared) else None


def _is_most_of_site(group: Group, compared: int) -> bool:
    pages = len(group.urls)
    is_foreign = group.most(_is_foreign(group, url) for url in group.urls)
    if is_foreign and pages == compared:
        return True
    return pages >= FEWEST_WITHOUT_QUESTION and pages >= (MOST_OF_SITE if is_foreign else NEARLY_ALL) * compared


def _is_foreign(group: Group, url: str) -> bool:
    """Whether the frame of the site is gone, too."""
    kept = sum(words for line, words in group.texts[url].kept_lines if line in group.frame)
    return kept <= KEPT_WORDS * group.lost_words(url)
