"""Which query parameters name pages: what a crawl tries to find it out, and what the answers say.

A parameter is tried where only it is unknown: `?id=` first, then `do` in `?id=…&do=…`. A few addresses that differ in
it are fetched, and beside them the page without it.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote

from crawler.domain.crawls.learned_params import ANY_NAME, ANY_PATH, MOST_LEARNED, LearnedParam, ParamRole
from crawler.domain.reasons import Reason
from crawler.domain.urls.tracking import is_tracking
from crawler.domain.urls.url import QueryRule, Url, normalize, param_name, param_names, params, path_key, read

MOST_TRIALS = 5
"""Addresses that are fetched for one parameter of a path, beside those without it."""
MOST_GROUPS = 12
"""Parameters that one crawl tries; what is left is tried by the next."""
MOST_DOORS = 5
"""Addresses that are the only one with their parameter and are fetched to see whether their pages link to others."""
FEWEST_PAGES = 3
"""Pages that have the same view, for it to be one."""
MOST_OF = 0.8
HALF = 0.5
ALIKE = 0.8
"""The share of its words that a page has in common with the one it repeats."""
OUTAGES = frozenset({
    Reason.CONNECT, Reason.DNS, Reason.TLS, Reason.TIMEOUT, Reason.PROTOCOL, Reason.HTTP_5XX, Reason.RATE_LIMITED,
    Reason.HOST_BLOCKED, Reason.ROBOTS_UNREACHABLE, Reason.LOGIN,
})  # fmt: skip
"""Why a trial got no answer that another day may bring one: nothing is learned from it."""
_LONGEST_NUMBER = 18
_FEW_WORDS = 3
_OWN_WORDS = 8
_MANY_WORDS = 20
_LARGE_PART = 0.25
_DATE = re.compile(r"(?:19|20|21)\d{2}[-_./]?(?:0?[1-9]|1[0-2])(?:[-_./]?(?:0?[1-9]|[12]\d|3[01]))?")
_LETTER = re.compile(r"[^\W\d_]")


class FoundLink(NamedTuple):
    url: Url
    depth: int


@dataclass(frozen=True)
class Group:
    """Links of one path whose only unknown parameter is this one."""

    path: str
    name: str
    links: tuple[FoundLink, ...]

    @cached_property
    def values(self) -> list[str]:
        return list(
            dict.fromkeys(value for link in self.links for name, value in params(link.url) if name == self.name)
        )


class LinkBook:
    """All links of a crawl with a query, by what stands in them: looked up, since a site may have a parameter in each.

    `known`: keys of pages that this crawl has met, or links to, without any unknown parameter.
    """

    def __init__(self, links: Iterable[FoundLink], rule: QueryRule, known: frozenset[str] = frozenset()) -> None:
        self.rule = rule
        self.known = known
        self._found: dict[tuple[str, str], list[FoundLink]] = defaultdict(list)
        self._kept: dict[tuple[str, str], set[str]] = defaultdict(set)
        for link in links:
            path = path_key(link.url)
            for name, value in dict(params(link.url)).items():
                self._found[path, name].append(link)
                if rule.role(path, name) is ParamRole.KEPT:
                    self._kept[path, value].add(name)

    def having(self, path: str, name: str) -> Sequence[FoundLink]:
        return self._found.get((path, name), ())

    def paths_of(self, name: str) -> list[str]:
        return [path for path, other in self._found if other == name]

    def names_page(self, group: Group, value: str) -> bool:
        """Whether a value names a page of the same path by another parameter."""
        return bool(self._kept.get((group.path, value), set()) - {group.name})

    @cached_property
    def ends(self) -> set[str]:
        """The ends of the paths of known pages."""
        return {end for key in self.known for end in _ends(unquote(key.partition("?")[0].partition("://")[2]))}


class Answer(NamedTuple):
    """What was fetched for a trial."""

    url: str
    title: str
    """Title and first heading."""
    lines: frozenset[str]
    noindex: bool = False
    links: tuple[str, ...] = ()
    """Whole addresses of the links that may be followed."""

    @property
    def words(self) -> int:
        return sum(map(_words, self.lines))


class Verdict(NamedTuple):
    role: ParamRole
    why: str = ""


_NAMES_PAGES = Verdict(ParamRole.VIEW, "its values name pages that have addresses of their own")


def open_groups(links: Iterable[FoundLink], rule: QueryRule) -> list[Group]:
    """Groups that can be tried, those with the most values first. Where two unknown parameters always come together,
    the one with more values is tried as if it were alone."""
    alone: dict[tuple[str, str], list[FoundLink]] = defaultdict(list)
    together: dict[tuple[str, str], list[FoundLink]] = defaultdict(list)
    for link in links:
        path = path_key(link.url)
        unknown = [name for name in param_names(link.url) if rule.role(path, name) in (None, ParamRole.TRIED)]
        for name in unknown:
            (alone if len(unknown) == 1 else together)[path, name].append(link)
    tried = {path for path, _ in alone}
    groups = [Group(path, name, tuple(found)) for (path, name), found in alone.items()]
    paired = [Group(path, name, tuple(found)) for (path, name), found in together.items() if path not in tried]
    best: dict[str, Group] = {}
    for group in paired:
        rival = best.get(group.path)
        if rival is None or (len(group.values), rival.name) > (len(rival.values), group.name):
            best[group.path] = group
    return sorted([*groups, *best.values()], key=lambda group: (-len(group.values), group.path, group.name))


def without(url: Url, name: str) -> Url | None:
    """The address without a parameter."""
    kept = [pair for pair in url.query.split("&") if pair and param_name(pair.lower()) != name]
    found = read(url.href.partition("?")[0] + (f"?{'&'.join(kept)}" if kept else ""))
    return found if isinstance(found, Url) else None


def plain_address(url: Url, known: Iterable[LearnedParam]) -> Url:
    """The address without parameters without which the page answers, too: a link may name an old revision of it."""
    path = path_key(url)
    for one in known:
        if one.plain and one.role is ParamRole.DROPPED and one.path == path:
            url = without(url, one.name) or url
    return url


def is_date(value: str) -> bool:
    return _DATE.fullmatch(value) is not None


def newest(url: Url, rule: QueryRule) -> tuple[int, ...]:
    """Sorts addresses of one page by numbers that its key leaves out, the largest first: that of the last revision.

    Dates are those of a calendar, which goes on without end.
    """
    path = path_key(url)
    left_out = [value for name, value in params(url) if rule.role(path, name) is ParamRole.DROPPED]
    numbers = [value for value in left_out if value.isdecimal() and not is_date(value)]
    return tuple(-int(value[:_LONGEST_NUMBER]) for value in numbers)


def answers_without(name: str, answers: Sequence[Answer], bases: Mapping[str, Answer]) -> bool:
    """Whether all pages that were tried answer without the parameter, too."""
    return bool(answers) and all(_base_of(answer, name, bases) for answer in answers)


def trials(group: Group) -> list[Url]:
    """Addresses to fetch: different values, on different pages where there are such, always the same ones."""
    by_page: dict[str, list[Url]] = defaultdict(list)
    seen: set[tuple[tuple[str, str], ...]] = set()
    for link in sorted(group.links, key=lambda link: (len(link.url.href), link.url.href)):
        mine = [pair for pair in params(link.url) if pair[0] == group.name or not is_tracking(pair[0])]
        if (pairs := tuple(sorted(mine))) not in seen:  # by another session id it is the same address
            seen.add(pairs)
            by_page[repr([pair for pair in mine if pair[0] != group.name])].append(link.url)
    chosen = [urls[turn] for turn in range(MOST_TRIALS) for urls in by_page.values() if turn < len(urls)]
    return chosen[:MOST_TRIALS]


def is_door(group: Group, rule: QueryRule) -> bool:
    """Whether one address alone has the parameter, and no other that names pages: more may stand behind it."""
    kept = (name for link in group.links for name in _kept_names(link.url, rule))
    return len(trials(group)) == 1 and next(kept, None) is None


def judge_by_links(group: Group, book: LinkBook) -> Verdict | None:
    """What the links alone say; None when the pages have to be looked at."""
    values = group.values
    if values and all(map(is_date, values)):
        return Verdict(ParamRole.DROPPED, "its values are dates, as those of a calendar")
    if _names_paths(group, book):
        return _NAMES_PAGES
    rule = book.rule
    companions = [link for link in group.links if any(name != group.name for name in _kept_names(link.url, rule))]
    if len(companions) < len(group.links):
        return None
    words = [value for value in values if _LETTER.search(value)]
    if _names_pages(group, book):
        return _NAMES_PAGES
    bases = {base.href: normalize(base, rule) for link in companions if (base := without(link.url, group.name))}
    if len(bases) < FEWEST_PAGES:
        return None
    if sum(key in book.known for key in bases.values()) < MOST_OF * len(bases):
        # With several values beside one page nobody knows which of them is the page.
        is_constant = len({normalize(link.url, rule) for link in companions}) == len(
            {link.url.href.lower() for link in companions}
        )
        return Verdict(ParamRole.DROPPED, "nothing links to these pages without it") if is_constant else None
    if (
        words
        and len(words) == len(values)
        and len(values) * FEWEST_PAGES <= len({link.url.href for link in companions})
    ):
        return Verdict(ParamRole.VIEW, "the same few values stand beside many pages")
    return None


def views_by_default(book: LinkBook, names: Iterable[str]) -> Iterator[LearnedParam]:
    """Parameters that are kept on any site, where they name pages that have addresses of their own."""
    for name in names:
        for path in book.paths_of(name):
            group = Group(path, name, tuple(book.having(path, name)))
            if (path, name) not in book.rule.learned and _names_pages(group, book):
                yield LearnedParam(path=path, name=name, role=_NAMES_PAGES.role, why=_NAMES_PAGES.why)


def _names_pages(group: Group, book: LinkBook) -> bool:
    words = [value for value in group.values if _LETTER.search(value)]
    if len(words) < FEWEST_PAGES:
        return False
    return sum(book.names_page(group, value) for value in words) >= MOST_OF * len(group.values)


def _names_paths(group: Group, book: LinkBook) -> bool:
    """Whether half of the links name known pages by the ends of their paths, and say what to do with those pages."""
    mine = book.having(group.path, group.name)
    together = sum(len(param_names(link.url)) > 1 for link in mine)
    values = [unquote(dict(params(link.url))[group.name]) for link in mine]
    words = {value for value in values if _LETTER.search(value)}
    if len(words) < FEWEST_PAGES or together < MOST_OF * len(mine):
        return False
    return sum(value in book.ends for value in values) >= HALF * len(values)


def _ends(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.partition("/")[2]
        yield path


def judge_by_pages(name: str, answers: Sequence[Answer], bases: Mapping[str, Answer]) -> Verdict | None:
    """What the fetched pages say; None when too few of them answered. `bases`: by address, the page without it."""
    if len(answers) < 2:
        return None
    beside = [base for answer in answers if (base := _base_of(answer, name, bases))]
    hidden = all(answer.noindex and _has_companions(answer, name) for answer in answers)
    if beside and hidden and not any(base.noindex for base in beside):
        return Verdict(ParamRole.VIEW, "these pages are marked noindex, those without it are not")
    own = sum(
        is_own(answer, [other for other in [*answers, *beside] if other is not answer], _base_of(answer, name, bases))
        for answer in answers
    )
    if own * 2 >= len(answers) and own > 1:
        return Verdict(ParamRole.KEPT, "titles and texts differ")
    return Verdict(ParamRole.DROPPED, "the pages are alike")


def learned(known: Sequence[LearnedParam], new: Iterable[LearnedParam]) -> tuple[LearnedParam, ...]:
    """What is known with what was found out; a parameter stands once. There is always room for one that is all."""
    book = {(one.path, one.name): one for one in (*known, *new)}
    any_other = book.pop((ANY_PATH, ANY_NAME), None)
    return (*tuple(book.values())[: MOST_LEARNED - 1], *([any_other] if any_other else ()))


def is_own(page: Answer, others: Sequence[Answer], base: Answer | None) -> bool:
    """Whether a page says something that none of the others says, and does not repeat the one without the parameter."""
    own = _own_words(page, others)
    if not page.title or any(page.title == other.title for other in others):
        return own >= _MANY_WORDS and own >= _LARGE_PART * page.words
    # In a large frame any two pages look alike: another page lacks what the one without the parameter says.
    alike = max((_alike(page, other) for other in others), default=0.0)
    is_short = alike >= ALIKE and (base is None or _own_words(base, [page]) < _FEW_WORDS)
    return own >= (_OWN_WORDS if is_short else _FEW_WORDS)


def _own_words(page: Answer, others: Sequence[Answer]) -> int:
    """Words in lines that only this page has, without its title and mere numbers."""
    elsewhere = frozenset().union(*(other.lines for other in others))
    title = page.title.lower()
    return sum(_words(line) for line in page.lines - elsewhere if _LETTER.search(line) and line.lower() not in title)


def _alike(one: Answer, other: Answer) -> float:
    both = sum(map(_words, one.lines & other.lines))
    return both / max(one.words, other.words, 1)


def _words(line: str) -> int:
    return line.count(" ") + 1


def _kept_names(url: Url, rule: QueryRule) -> Iterator[str]:
    path = path_key(url)
    return (name for name in param_names(url) if rule.role(path, name) is ParamRole.KEPT)


def _base_of(answer: Answer, name: str, bases: Mapping[str, Answer]) -> Answer | None:
    url = read(answer.url)
    base = without(url, name) if isinstance(url, Url) else None
    return bases.get(base.href) if base else None


def _has_companions(answer: Answer, name: str) -> bool:
    url = read(answer.url)
    return isinstance(url, Url) and any(other != name for other in param_names(url))
