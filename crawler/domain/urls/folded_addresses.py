"""Addresses that are taken for one page: which of them are looked at, and what a look says.

A parameter is left out of keys because some pages were alike with it. That says nothing of addresses at which nobody
looked, nor of tomorrow. So each crawl looks at some addresses that it took for a page it has. If one of them says
something, or leads to something, that this page does not, a parameter that tells the two apart is kept. So it is if the
one that was fetched for them all is no page, such as a list to download, and another is one.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from types import MappingProxyType
from typing import NamedTuple

from crawler.domain.crawls.learned_params import LearnedParam, ParamRole
from crawler.domain.reasons import Reason
from crawler.domain.urls.query_survey import Answer, is_date, is_own
from crawler.domain.urls.tracking import is_tracking
from crawler.domain.urls.url import QueryRule, Url, normalize, params, path_key, read

MOST_LOOKS = 20
"""Addresses that one crawl looks at."""
DIFFER = "pages that were taken for one differ"

MOST_LINKS = 20_000
"""Links of which these are chosen."""

NO_PAGE = frozenset(
    {
        Reason.ROBOTS,
        Reason.NOT_FOUND,
        Reason.FORBIDDEN,
        Reason.CONTENT_TYPE,
        Reason.REDIRECTED,
        Reason.TOO_LARGE,
    }
)
"""Why an address stands for no other: these last, while a server that is down today says nothing."""

_NUMBER = re.compile(r"\d+")
_NEVER: Mapping[str, Answer] = MappingProxyType({})
Pairs = frozenset[tuple[str, str]]
Value = tuple[str, str, str]
"""Of a parameter: its path, its name, and what it says."""


class Fold(NamedTuple):
    """An address, and the one by which the page that it was taken for was fetched."""

    stands: Url
    other: Url

    @property
    def path(self) -> str:
        return path_key(self.other)

    @property
    def apart(self) -> list[str]:
        """Parameters by which the address differs from the one that stands for it; of that one, if it has no others."""
        mine, its = _pairs(self.other), _pairs(self.stands)
        return sorted({name for name, _ in mine - its} or {name for name, _ in its - mine})


def folds(
    links: Iterable[Url], stands: Mapping[str, str], former: Iterable[tuple[str, str]], rule: QueryRule, turn: str
) -> list[Fold]:
    """Links that were taken for pages of this crawl, in the order in which they are looked at.

    `stands`: by key, the address by which the page was fetched. `former`: addresses by which pages were fetched now and
    by the crawl before; those come first. Then one of each kind of address, and so on; `turn` decides which of many, so
    that all have theirs.
    """
    by_kind: dict[tuple[str, frozenset[str]], list[Fold]] = defaultdict(list)
    first = [fold for now, before in former if (fold := _fold(before, now))]
    known = {(fold.path, _pairs(fold.other)) for fold in first}
    for url in sorted(links, key=lambda url: _shuffled(url.href, turn))[:MOST_LINKS]:
        fold = _fold(url.href, stands.get(normalize(url, rule)))
        if fold is not None and (fold.path, pairs := _pairs(url)) not in known:
            known.add((fold.path, pairs))
            by_kind[fold.path, frozenset(name for name, _ in pairs)].append(fold)
    ranked = [(rank, fold) for group in by_kind.values() for rank, fold in enumerate(group)]
    ranked.sort(key=lambda found: found[0])
    return [*first, *(fold for _, fold in ranked)]


def told_apart(
    looks: Sequence[Fold],
    answers: Mapping[str, Answer],
    leads_on: Callable[[Answer], bool],
    known: Sequence[LearnedParam],
    links: Iterable[Url],
    before: Mapping[str, Answer] = _NEVER,
    no_pages: Container[str] = (),
) -> Iterator[LearnedParam]:
    """Parameters that have to be kept, one of a path at a time: then it is seen what is still taken for one page.

    `leads_on`: whether a page has a link to a page that no other page links to.
    `before`: what the same addresses, and those that stand for them, said when the crawl before looked at them.
    `no_pages`: addresses that stand for others and are no pages.
    """
    values = _values(links)
    without_end = _without_end(answers.values(), values)
    counts = Counter((path, name) for path, name, _ in values)
    tried = {(one.path, one.name) for one in known if one.role is ParamRole.DROPPED and one.lasting}
    by_path: dict[str, list[Fold]] = defaultdict(list)
    for fold in looks:
        if fold.other.href in answers and (fold.stands.href in answers or fold.stands.href in no_pages):
            by_path[fold.path].append(fold)
    for path, mine in sorted(by_path.items()):
        for fold in mine:
            names = [name for name in fold.apart if (path, name) not in without_end]
            if names and _is_contradiction(fold, mine, answers, leads_on, tried, before):
                name = min(names, key=lambda name: ((path, name) in tried, counts[path, name], name))
                yield LearnedParam(path=path, name=name, role=ParamRole.KEPT, why=DIFFER)
                break


def _is_contradiction(
    fold: Fold,
    looks: Sequence[Fold],
    answers: Mapping[str, Answer],
    leads_on: Callable[[Answer], bool],
    tried: set[tuple[str, str]],
    before: Mapping[str, Answer],
) -> bool:
    if fold.stands.href not in answers:
        return True  # what stands for it is no page
    if leads_on(answers[fold.other.href]) or _was_edited_alone(fold, answers, before):
        return True
    if not _says_more(fold, answers):
        return False
    if len(fold.apart) > 1 or (fold.path, fold.apart[0]) not in tried:
        return True
    was = before.get(fold.other.href)
    if was is not None and not is_own(was, [answers[fold.stands.href]], answers[fold.stands.href]):
        return True  # it said nothing of its own when it was looked at last: no old revision, but an edit
    # Trials showed that pages are alike with it: one old revision that has little in common with the last proves less.
    alike = [other for other in looks if other.apart == fold.apart and other.stands.href in answers]
    return 2 * sum(_says_more(other, answers) for other in alike) >= len(alike)


def _was_edited_alone(fold: Fold, answers: Mapping[str, Answer], before: Mapping[str, Answer]) -> bool:
    """Whether an address says something else since it was looked at last, however little, while the one that stands for
    it says what both said then, but for numbers. What is never the same twice differed then, too."""
    was, stood = before.get(fold.other.href), before.get(fold.stands.href)
    if was is None or stood is None or answers[fold.other.href].noindex:
        return False
    said = _said(stood)
    return _said(was) == said == _said(answers[fold.stands.href]) != _said(answers[fold.other.href])


def _said(page: Answer) -> frozenset[str]:
    return frozenset(_NUMBER.sub("#", line) for line in (page.title, *page.lines))


def _says_more(fold: Fold, answers: Mapping[str, Answer]) -> bool:
    page, stands = answers[fold.other.href], answers[fold.stands.href]
    if page.noindex and not stands.noindex:
        return False
    numbers = (value.isdecimal() and not is_date(value) for _, value in _pairs(fold.other) - _pairs(fold.stands))
    if page.title == stands.title and all(numbers):
        return False  # another revision of the same page
    return is_own(page, [stands], stands)


def same_query(one: str, other: str) -> bool:
    """Whether two addresses ask for the same, but for their order and what names a visitor or a campaign."""
    first, second = read(one), read(other)
    return isinstance(first, Url) and isinstance(second, Url) and _pairs(first) == _pairs(second)


def _fold(href: str, stands: str | None) -> Fold | None:
    other, its = read(href), read(stands) if stands else None
    if not isinstance(other, Url) or not isinstance(its, Url) or _pairs(other) == _pairs(its):
        return None
    return Fold(its, other)


def _pairs(url: Url) -> Pairs:
    """What may tell a page apart."""
    return frozenset((name, value) for name, value in params(url) if not is_tracking(name))


def _values(links: Iterable[Url]) -> set[Value]:
    return {(path_key(url), *pair) for url in links for pair in params(url)}


def _without_end(pages: Iterable[Answer], known: set[Value]) -> set[tuple[str, str]]:
    """Parameters whose values are dates, where a page links to one that is not linked elsewhere: as calendars do."""
    linked = (url for page in pages for href in page.links if "?" in href and isinstance(url := read(href), Url))
    return {(path, name) for path, name, value in _values(linked) - known if is_date(value)}


def _shuffled(href: str, turn: str) -> bytes:
    return blake2b(f"{turn} {href}".encode(), digest_size=8).digest()
