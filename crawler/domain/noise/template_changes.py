"""The same edit on many pages is one change of the site: a menu, a banner, a footer."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple, TypeVar

from crawler.domain.diffs.block_diff import BlockEdit
from crawler.domain.diffs.shown_lines import shown
from crawler.domain.noise.columns import MOST_TEXT, line_words
from crawler.domain.noise.learned_rule import ANYWHERE, is_named, names_a_line
from crawler.domain.noise.moving_values import LONGEST_LINE, skeleton, value_changes
from crawler.domain.noise.priced_values import holds_prices, is_priced, is_random, names_a_cost, names_a_price

Key = TypeVar("Key", bound=Hashable)

LIMITS = ((3, 0.5), (10, 0.2), (50, 0.0))
"""So many pages, and such a share of those compared. A part of a large site has a template of its own; on a small one
three pages of ten may just as well have been edited one by one."""
MOST_LISTED = 50
MOST_EXAMPLES = 5
LONGEST_TEXT = 500
"""Characters of a line that are shown."""
VALUE_LIMITS = ((3, 0.5), (10, 0.3), (50, 0.2))
"""Limits for lines that differ from page to page in a number or a date: they may have been edited one by one."""
TITLE = "title"
_OWN = "…"
"""Stands for what is each page's own in its title."""
_WORDS = re.compile(r"\w+|[^\w\s]").findall
_ENTRY = re.compile(r"li\.([^>#]+)").fullmatch
_RELEASE = re.compile(r"(?:build|revision|rev\.?|commit|deploy(?:ment)?|release):? ?#").fullmatch


class LineKey(NamedTuple):
    """How lines read that only differ in their values: what happened to them, where they stand, their words."""

    sign: str
    """`~` moved, `+` came, `-` went, `=` has other words now."""
    place: str
    words: str
    after: str = ""
    """The words of such a line now."""


class TemplateChange(NamedTuple):
    removed: str
    added: str
    pages: int
    example_urls: tuple[str, ...]
    place: str | None = None
    line: str | None = None
    """How the lines read, where only values in them moved."""
    own_values: bool = False
    """The values are others on each page. The texts are those of one page."""

    def as_record(self) -> dict[str, Any]:
        """What a summary tells."""
        return {**self._asdict(), "example_urls": list(self.example_urls)}


class Collapsed(NamedTuple):
    left: dict[str, tuple[BlockEdit, ...]]
    """Edits by URL, without those of the template."""
    template: list[TemplateChange]
    """Largest first."""
    edited: frozenset[str]
    """Pages on which the template was edited."""


Edits = Mapping[str, Sequence[BlockEdit]]
"""Edits of pages, by URL."""


def is_template(pages: int, compared: int, limits: Sequence[tuple[int, float]] = LIMITS) -> bool:
    return any(pages >= fewest and pages >= share * compared for fewest, share in limits)


def collapse(edits: Edits, compared: int) -> Collapsed:
    """`compared` are all pages that both crawls have, changed or not."""
    keys = {edit: line_key(edit) for found in edits.values() for edit in found}
    moving = _moving(edits, compared, keys.__getitem__)
    left = _without(edits, moving, keys.__getitem__)
    titles = _moving(left, compared, title_value_key)
    left = _without(left, titles, title_value_key)
    alike = _entries_alike(left, _shared(left, compared, lambda edit: edit, LIMITS))
    same = _shared(left, compared, lambda edit: alike.get(edit, edit), LIMITS)
    found = [(_of_same(edit, urls), urls) for edit, urls in same.items() if not _is_release(edit)]
    found += [(_of_lines(line, urls, texts), urls) for line, (urls, texts) in (*moving.items(), *titles.items())]
    found.sort(key=lambda told: (-told[0].pages, told[0].removed, told[0].added))
    edited = frozenset(url for _, urls in found for url in urls)
    return Collapsed(
        _without(left, same, lambda edit: alike.get(edit, edit)), [change for change, _ in found[:MOST_LISTED]], edited
    )  # fmt: skip


def _moving(
    edits: Edits, compared: int, key: Callable[[BlockEdit], LineKey | None]
) -> dict[LineKey, tuple[list[str], list[tuple[str, str]]]]:
    """Lines in which many pages have something of their own: these pages, and what the line was and became on them."""
    lines = _shared(edits, compared, key, VALUE_LIMITS)
    texts = _texts_by_line(lines, edits, key)
    return {line: (urls, texts[line]) for line, urls in lines.items() if _are_own(texts[line], compared)}


def _entries_alike(edits: Edits, same: Container[BlockEdit]) -> dict[BlockEdit, BlockEdit]:
    """Edits that are the template's but for the classes of a list's entry: by these a menu marks where one is."""
    of_template: dict[tuple[str, str], list[BlockEdit]] = defaultdict(list)
    found = dict.fromkeys(edit for some in edits.values() for edit in some)
    for edit in found:
        if edit in same and _ENTRY(edit.place):
            of_template[texts_of(edit)].append(edit)
    others = ((edit, of_template.get(texts_of(edit), ())) for edit in found if edit not in same)
    return {edit: alike for edit, known in others for alike in known[:1] if _is_entry_alike(edit.place, alike.place)}


def _is_entry_alike(place: str, other: str) -> bool:
    """Both are entries of a list, and share a class."""
    classes = (set(entry[1].split(".")) if (entry := _ENTRY(one)) else set() for one in (place, other))
    return bool(set.intersection(*classes))


def _are_own(texts: Sequence[tuple[str, str]], compared: int) -> bool:
    """Whether each page has values of its own in a line, as it was and became on these pages.

    The same value on all of them is a word of the template like any other. So is one that all had, and that most got
    another for: on the few that got a third one, it is an edit of theirs.
    """
    (usual, pages), *others = Counter(texts).most_common()
    was_shared = bool(usual[0]) and all(old == usual[0] for old, _ in texts)
    return bool(others) and not (was_shared and is_template(pages, compared) and pages > len(texts) / 2)


def line_key(edit: BlockEdit) -> LineKey | None:
    """The key of a line in which only values moved, or that came or went with values; anywhere if its words name it.

    None for prices and the like: they are what each page is about.
    """
    if max(map(len, texts_of(edit))) > LONGEST_LINE:
        return None
    if edit.removed and edit.added:
        changes = value_changes(edit.removed.text, edit.added.text)
        if changes is None:
            return title_key(*texts_of(edit)) if edit.place == TITLE else _reworded(edit)
        if is_priced(changes) or holds_prices(edit.place):
            return None
        return _keyed("~", edit, line_words(edit.removed.text))
    block = edit.removed or edit.added
    if block is None or not skeleton(block.text).values or names_a_price(block.text) or holds_prices(block.place):
        return None
    key = _keyed("-" if edit.removed else "+", edit, line_words(block.text))
    return key if key.place == ANYWHERE or is_named(key.place) else None


def _reworded(edit: BlockEdit) -> LineKey | None:
    """The key of a line that has other words now; each page has a value of its own in it."""
    old, new = map(skeleton, texts_of(edit))
    values = [[text for _, text, _ in line.values] for line in (old, new)]
    names_prices = any(map(names_a_price, texts_of(edit))) or holds_prices(edit.place)
    is_long = max(len(old.words), len(new.words)) > MOST_TEXT
    if is_long or not all(values) or (names_prices and values[0] != values[1]):
        return None
    key = _keyed("=", edit, old.words)._replace(after=new.words)
    return key if key.place == ANYWHERE or is_named(key.place) else None


def title_key(old: str, new: str) -> LineKey | None:
    """The key of a title in which only some words are others: the name of the site, if all pages have that edit."""
    before, after = _WORDS(old), _WORDS(new)
    start = _alike(before, after)
    end = _alike(before[start:][::-1], after[start:][::-1])
    words, now = (" ".join([_OWN, *side[start : len(side) - end]]) for side in (before, after))
    is_price = any(map(str.isdigit, words + now)) and (names_a_cost(old) or names_a_cost(new))
    return None if is_price or max(len(words), len(now)) > MOST_TEXT else LineKey("=", TITLE, words, now)


def title_value_key(edit: BlockEdit) -> LineKey | None:
    """The key of a title in which only values are others, by what they were and became, and the word before each.

    The same version behind the name of the site is the template's; one behind a page's own name is that page's.
    """
    old, new = texts_of(edit)
    if edit.place != TITLE or not old or not new or max(len(old), len(new)) > LONGEST_LINE:
        return None
    changes = value_changes(old, new)
    if not changes or names_a_cost(old) or names_a_cost(new):
        return None
    words, values = skeleton(old)
    beside = [_beside(words, values[change.number][2]) for change in changes]
    sides = ([f"{near} {text}" for near, text in zip(beside, texts, strict=True)]
             for texts in ([one.old for one in changes], [one.new for one in changes]))  # fmt: skip
    was, became = (" ".join([_OWN, *side]) for side in sides)
    return LineKey("=", TITLE, was, became) if max(len(was), len(became)) <= MOST_TEXT else None


def _beside(words: str, at: int) -> str:
    """The word before a value; that behind it, where it is the first."""
    before, after = _WORDS(words[:at]), _WORDS(words[at + 1 :])
    return "".join(before[-1:] or after[:1])


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both begin with."""
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False)))


def _keyed(sign: str, edit: BlockEdit, words: str) -> LineKey:
    return LineKey(sign, ANYWHERE if names_a_line(words) else edit.place, words)


def _texts_by_line(
    lines: Container[LineKey], edits: Edits, key_of: Callable[[BlockEdit], LineKey | None]
) -> dict[LineKey, list[tuple[str, str]]]:
    """What each of these lines was and became, on all pages in the order of their URLs."""
    found: dict[LineKey, list[tuple[str, str]]] = defaultdict(list)
    for url in sorted(edits):
        for edit in edits[url]:
            key = key_of(edit)
            if key is not None and key in lines:
                found[key].append(texts_of(edit))
    return found


def _is_release(edit: BlockEdit) -> bool:
    """The tag that each release gives to all pages alike: nothing anybody could want to hear of."""
    changes = value_changes(*texts_of(edit)) if edit.removed and edit.added else None
    return bool(changes) and all(is_random(one) and _RELEASE(one.around) for one in changes or ())


def _of_same(edit: BlockEdit, urls: Sequence[str]) -> TemplateChange:
    """The same edit on these pages. Where only values moved, its line is kept, to know it when they move again."""
    key, texts = line_key(edit), texts_of(edit)
    change = _described(texts, urls)
    if key is None or key.sign != "~":
        return change
    return change._replace(place=key.place, line=key.words)


def _of_lines(line: LineKey, urls: Sequence[str], found: Sequence[tuple[str, str]]) -> TemplateChange:
    return _described(found[0], urls)._replace(place=line.place, line=line.words, own_values=True)


def _shared(
    edits: Edits, compared: int, key: Callable[[BlockEdit], Key | None], limits: Sequence[tuple[int, float]]
) -> dict[Key, list[str]]:
    """Keys that so many pages have in common, and those pages."""
    pages: dict[Key, list[str]] = defaultdict(list)
    for url in sorted(edits):
        for found in dict.fromkeys(map(key, edits[url])):
            if found is not None:
                pages[found].append(url)
    return {found: urls for found, urls in pages.items() if is_template(len(urls), compared, limits)}


def _without(
    edits: Edits, shared: Container[Key], key: Callable[[BlockEdit], Key | None]
) -> dict[str, tuple[BlockEdit, ...]]:
    return {url: tuple(edit for edit in found if key(edit) not in shared) for url, found in edits.items()}


def _described(texts: tuple[str, str], urls: Sequence[str]) -> TemplateChange:
    return TemplateChange(*shown(*texts, LONGEST_TEXT), len(urls), tuple(urls[:MOST_EXAMPLES]))


def texts_of(edit: BlockEdit) -> tuple[str, str]:
    """The whole text before and after; empty where there was no line."""
    return edit.removed.text if edit.removed else "", edit.added.text if edit.added else ""
