"""One step of the survey of query parameters: what trials and links say of them, and what is tried or queued next.

The rules: `domain/urls/query_survey.py`. Who keeps what a step finds out: `survey_queries.py`.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Protocol
from uuid import UUID

from crawler.domain.changes.probes import Probe, Purpose
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, FetchState, QueryParams
from crawler.domain.crawls.frontier import Priority
from crawler.domain.crawls.learned_params import ANY_NAME, ANY_PATH, NOT_TRIED, LearnedParam, ParamRole
from crawler.domain.engine.ledger import Found, Source, UrlKey
from crawler.domain.pages.parsing import ParsedPage, UnparsablePage, parse_page
from crawler.domain.reasons import Reason
from crawler.domain.urls.folded_addresses import MOST_LOOKS, Fold, folds, told_apart
from crawler.domain.urls.query_survey import (
    FEWEST_PAGES,
    MOST_DOORS,
    MOST_GROUPS,
    Answer,
    FoundLink,
    Group,
    LinkBook,
    Verdict,
    answers_without,
    is_door,
    is_own,
    judge_by_links,
    judge_by_pages,
    learned,
    newest,
    open_groups,
    plain_address,
    trials,
    views_by_default,
    without,
)
from crawler.domain.urls.scope import Admission, Refusal, Scope
from crawler.domain.urls.url import QueryRule, Url, normalize, param_names, path_key, read

MOST_ROUNDS = 20
MOST_ASKED = 150
"""Addresses that one crawl fetches to find out about parameters, all together."""
_EACH_ADDRESS = QueryRule(QueryParams.KEEP, frozenset())
_SILENT = Verdict(ParamRole.DROPPED, "too few of its pages answered")
_DOOR = Verdict(ParamRole.TRIED, "one address has it")
_OTHER_PAGE = Verdict(ParamRole.KEPT, "titles and texts differ")


class TriedPage(Protocol):
    @property
    def url(self) -> str: ...
    @property
    def content(self) -> bytes | None: ...
    @property
    def content_type(self) -> str: ...


class QueryStep:
    """One look at all links of a crawl whose parameters are not known yet."""

    def __init__(self, config: CrawlConfig, scope: Scope, parents: dict[str, tuple[int, str]]) -> None:
        self.config = config
        self.rule = rule = QueryRule.of(config)
        self._parents = parents
        self._scope = scope
        self._all = [
            FoundLink(url, depth) for href, (depth, _) in parents.items() if isinstance(url := read(href), Url)
        ]
        self.open = [link for link in self._all if rule.waits(link.url) and self._is_in_scope(link.url)]

    def _is_in_scope(self, url: Url) -> bool:
        return isinstance(self._scope.candidate(url, 0).verdict, Admission)

    @cached_property
    def _links(self) -> list[FoundLink]:
        """All links with a query, also those that are known."""
        return [link for link in self._all if self._is_in_scope(link.url)]

    @property
    def is_trying(self) -> bool:
        """Whether there are trials whose answers say something."""
        return any(one.role is ParamRole.TRIED for one in self.config.learned_params)

    def judge(self, answers: Sequence[Answer], met: frozenset[str], silent: Mapping[str, str]) -> None:
        """Learn from the trials that were answered, then from links alone, as far as that goes.

        `silent`: addresses of trials that say nothing today, and why.
        """
        if self.is_trying:
            self._judge_trials(answers, silent)
        for _ in range(MOST_ROUNDS):
            known = met | {normalize(link.url, self.rule) for link in self._links if not self._is_open(link)}
            book = LinkBook(self._links, self.rule, known)
            habits = self._habits()
            found = [
                _learned(group, verdict)
                for group in open_groups(self._still_open(), self.rule)
                if group.name not in habits and (verdict := judge_by_links(group, book))
            ]
            if not self._learn((*habits.values(), *found)) and not self._learn(self._kept_habits()):
                break
        if self.config.meaningful_params == CrawlConfig().meaningful_params:  # nobody has named these
            self._learn(views_by_default(LinkBook(self._links, self.rule), self.config.meaningful_params))

    def _judge_trials(self, answers: Sequence[Answer], silent: Mapping[str, str]) -> None:
        by_url = {answer.url: answer for answer in answers}
        for one in [one for one in self.config.learned_params if one.role is ParamRole.TRIED]:
            # Tried for two parameters, an address was fetched twice; it does not repeat itself.
            mine = [answer for answer in by_url.values() if _has(answer.url, one.path, one.name)]
            if _is_door(one):
                beside = [answer for answer in by_url.values() if _is_beside(answer.url, one.path, one.name)]
                self._look_behind(one, mine, beside)
                continue
            verdict = judge_by_pages(one.name, mine, by_url)
            why = next((why for href, why in silent.items() if _has(href, one.path, one.name)), None)
            if verdict is None and why:
                self._learn([_dropped(one.path, one.name, why)])  # the next crawl tries it again
                continue
            verdict = verdict or _SILENT
            plain = answers_without(one.name, mine, by_url)
            self._learn([one.model_copy(update={"role": verdict.role, "why": verdict.why, "plain": plain})])

    def _look_behind(self, door: LearnedParam, answers: Sequence[Answer], beside: Sequence[Answer]) -> None:
        """Open a parameter again if the only page that was known to have it links to others. Else keep it if that page
        is another one than those of the same path without it, or leave it out."""
        behind: dict[str, FoundLink] = {}
        for answer in answers:
            depth, parent = self._parents.get(answer.url, (0, answer.url))
            for href in answer.links:
                url = read(href)
                if isinstance(url, Url) and _has(href, door.path, door.name) and self._is_in_scope(url):
                    behind.setdefault(url.href, FoundLink(url, depth + 1))
                    self._parents.setdefault(url.href, (depth + 1, parent))
        known = {_address_key(link.url) for link in self.open}
        new = [link for link in behind.values() if _address_key(link.url) not in known]
        if not new and beside and any(is_own(answer, beside, None) for answer in answers):
            self._learn([door.model_copy(update=_OTHER_PAGE._asdict())])
            return
        if not new:
            self._learn([door.model_copy(update={"role": ParamRole.DROPPED, "lasting": False})])
            return
        others = tuple(one for one in self.config.learned_params if one != door)
        self.config = self.config.model_copy(update={"learned_params": others})
        self.open += new

    def _habits(self) -> dict[str, LearnedParam]:
        """What a parameter was found to be at two other paths, and nowhere else, it is in this crawl at all of them."""
        roles: dict[str, list[ParamRole]] = defaultdict(list)
        for one in self.config.learned_params:
            if one.lasting:
                roles[one.name].append(one.role)
        return {
            name: _dropped(ANY_PATH, name, "as at other paths", plain=self._is_plain(name))
            for name, found in roles.items()
            if len(found) > 1 and set(found) == {ParamRole.DROPPED}
        }

    def _kept_habits(self) -> list[LearnedParam]:
        """A parameter that was found to tell pages apart at several paths, and nowhere something else, does so in this
        crawl at all paths of which the links say nothing. Else a site with hundreds of them would be learned for years.
        """
        known = [one for one in self.config.learned_params if one.lasting]
        tried = Counter(one.name for one in known if one.role is ParamRole.KEPT)
        otherwise = {one.name for one in known if one.role is not ParamRole.KEPT}
        waiting = {group.name for group in open_groups(self._still_open(), self.rule)}
        return [
            LearnedParam(path=ANY_PATH, name=name, role=ParamRole.KEPT, why="as at other paths", lasting=False)
            for name, paths in sorted(tried.items())
            if paths >= FEWEST_PAGES and name in waiting - otherwise
        ]

    def _is_plain(self, name: str) -> bool:
        return all(one.plain for one in self.config.learned_params if one.name == name and one.lasting)

    def plan(self, crawl_id: UUID, asked: Container[str], tried: int, most: int = MOST_GROUPS) -> list[Probe]:
        """Trials of the parameters with the most values, of so many in all; marks them as being tried.

        `asked`: keys of requests that were made, so that none is made twice. `tried`: how many of them were trials.
        """
        rule = self.rule
        groups = open_groups(self._still_open(), rule)
        several = [(group, urls) for group in groups if len(urls := trials(group)) > 1]
        left = max(0, most - tried // FEWEST_PAGES)
        chosen = several[:left]
        seen = sum(map(_is_door, self.config.learned_params))
        closed = (group for group in groups if is_door(group, rule) and _address_key(trials(group)[0]) not in asked)
        doors = list(islice(closed, max(0, min(left, MOST_DOORS - seen))))
        self._learn(_learned(group, Verdict(ParamRole.TRIED)) for group, _ in chosen)
        self._learn(_learned(group, _DOOR) for group in doors)
        linked = {link.url.href for link in self._links}
        wanted: dict[str, Url] = {}
        for group, urls in chosen:
            bases = [base for url in urls if (base := without(url, group.name))]
            for url in (*urls, *(base for base in bases if base.href in linked or not base.query)):
                wanted.setdefault(normalize(url, self.rule), url)
        for url in (url for group in doors for url in (*trials(group), *self._beside(group))):
            wanted.setdefault(_address_key(url), url)
        return [
            Probe(UrlKey(crawl_id, key), url.href, url.host, Purpose.TRIAL, at)
            for at, (key, url) in enumerate(wanted.items())
            if key not in asked
        ]

    def _beside(self, door: Group) -> list[Url]:
        """The shortest address of the same path without the parameter that only one has."""
        return [link.url for link in self._links if _is_beside(link.url.href, door.path, door.name)][:1]

    def looks(
        self,
        crawl_id: UUID,
        stands: Mapping[str, str],
        former: Sequence[tuple[str, str]],
        asked: Mapping[str, str],
        most: int,
    ) -> tuple[list[Fold], list[Probe]]:
        """Addresses taken for others that this crawl looks at, and those of them that are not fetched yet.

        `asked`: by key, the addresses of requests that were made. A look that was made by another spelling of an
        address, such as one with another session id, is a look at this one.
        """
        urls = [link.url for link in self.open if not self._is_open(link)]
        chosen = folds(urls, stands, former, self.rule, str(crawl_id))[:MOST_LOOKS]
        keys = [_address_key(fold.other) for fold in chosen]
        new = {key: fold.other for key, fold in zip(keys, chosen, strict=True) if key not in asked}
        looks = [_as_asked(fold, asked.get(key)) for key, fold in zip(keys, chosen, strict=True)]
        return looks, [
            Probe(UrlKey(crawl_id, key), url.href, url.host, Purpose.TRIAL, at)
            for at, (key, url) in enumerate(islice(new.items(), max(0, most)))
        ]

    def tell_apart(
        self,
        looks: Sequence[Fold],
        answers: Sequence[Answer],
        before: Sequence[Answer],
        met: Container[str],
        no_pages: Container[str],
    ) -> bool:
        """Keep parameters without which addresses were taken for one page that are not. Whether there are such.

        `before`: what the crawl before saw at these addresses. `no_pages`: those that stand for others and are none.
        """
        known, earlier = ({answer.url: answer for answer in some} for some in (answers, before))
        paths = {fold.path for fold in looks}
        urls = [link.url for link in self._links if path_key(link.url) in paths]
        learned_before = self.config.learned_params
        found = told_apart(
            looks, known, lambda page: self._leads_on(page, met), learned_before, urls, earlier, no_pages
        )
        if not self._learn(list(found)):
            return False
        for stands, other in looks:  # nothing may link any more to an address by which a page was fetched before
            if other.href not in self._parents and (key := normalize(stands, self.rule)) != normalize(other, self.rule):
                self._parents[other.href] = (1, key)
                self.open.append(FoundLink(other, 1))
        return True

    def _leads_on(self, page: Answer, met: Container[str]) -> bool:
        """Whether a page has a link to something that this crawl has not met."""
        depth, _ = self._parents.get(page.url, (0, ""))
        for href in page.links:
            url = read(href)
            if not isinstance(url, Url) or self.rule.waits(url) or normalize(url, self.rule) in met:
                continue
            if isinstance(self._scope.candidate(url, depth + 1).verdict, Admission):
                return True
        return False

    def settle_rest(self) -> None:
        """Parameters that could not be tried are left out of keys in this crawl."""
        paths: dict[str, set[str]] = defaultdict(set)
        for link in self._still_open():
            path = path_key(link.url)
            for name in param_names(link.url):
                if self.rule.role(path, name) in (None, ParamRole.TRIED):
                    paths[name].add(path)
        groups = open_groups(self._still_open(), self.rule)
        had_no_turn = {group.name for group in groups if len(trials(group)) > 1}
        self._learn(
            _dropped(path, name, NOT_TRIED if name in had_no_turn else "too few addresses have it")
            for name, found in sorted(paths.items())
            for path in ([ANY_PATH] if len(found) >= FEWEST_PAGES else sorted(found))
        )
        if self._still_open():  # more than are kept one by one
            self._learn([_dropped(ANY_PATH, ANY_NAME, NOT_TRIED)])

    @property
    def keys(self) -> list[str]:
        """Of the pages that the links lead to which need not wait any more."""
        return sorted({normalize(link.url, self.rule) for link in self.open if not self._is_open(link)})

    def found(
        self, crawl: CrawlJob, scope: Scope, met: set[str], addresses: Container[str] = frozenset()
    ) -> Iterator[Found]:
        """Ledger rows of the links that waited, once each; of several spellings the one among `addresses`, those that
        the project's pages had before: another may be another page. Else that with the fewest parameters."""
        seen = set(met)
        known = [link for link in self.open if not self._is_open(link)]
        rule = self.rule
        for link in sorted(known, key=lambda link: _as_before(link.url, rule, addresses)):
            url = plain_address(link.url, self.config.learned_params)
            candidate = scope.candidate(url, link.depth)
            verdict = candidate.verdict
            if candidate.normalized in seen or (isinstance(verdict, Refusal) and verdict.reason is Reason.OFF_DOMAIN):
                continue
            seen.add(candidate.normalized)
            yield Found(
                UrlKey(crawl.id, candidate.normalized),
                url.href,
                link.depth,
                verdict.priority if isinstance(verdict, Admission) else Priority.OTHER,
                0,
                FetchState.QUEUED if isinstance(verdict, Admission) else FetchState.SKIPPED,
                None if isinstance(verdict, Admission) else verdict.reason,
                verdict.rule,
                Source.LINK,
                self._parents[link.url.href][1],
            )

    @property
    def settled(self) -> list[str]:
        """Links that waited and need not any more."""
        return [link.url.href for link in self.open if not self._is_open(link)]

    def _is_open(self, link: FoundLink) -> bool:
        return self.rule.leaves_open(link.url)

    def _still_open(self) -> list[FoundLink]:
        rule = self.rule
        return [link for link in self.open if rule.leaves_open(link.url)]

    def _learn(self, found: Iterable[LearnedParam]) -> bool:
        """Whether that was news."""
        before = self.config.learned_params
        self.config = self.config.model_copy(update={"learned_params": learned(before, found)})
        self.rule = QueryRule.of(self.config)
        return self.config.learned_params != before


def _address_key(url: Url) -> str:
    """The key of a request for this very address. What names a visitor or a campaign makes no other one."""
    return normalize(url, _EACH_ADDRESS)


def _as_asked(fold: Fold, href: str | None) -> Fold:
    """The fold with the address by which it was asked for."""
    url = read(href) if href else None
    return fold._replace(other=url) if isinstance(url, Url) else fold


def _dropped(path: str, name: str, why: str, *, plain: bool = False) -> LearnedParam:
    """A parameter that is left out for this crawl alone."""
    return LearnedParam(path=path, name=name, role=ParamRole.DROPPED, why=why, lasting=False, plain=plain)


def _is_door(one: LearnedParam) -> bool:
    """Whether one address alone had the parameter. The reason says so: its role is that of any other trial."""
    return one.why == _DOOR.why


def _as_before(url: Url, rule: QueryRule, addresses: Container[str]) -> tuple[tuple[int, ...], bool, int, int, str]:
    return newest(url, rule), url.href not in addresses, url.query.count("&"), len(url.href), url.href


def _learned(group: Group, verdict: Verdict) -> LearnedParam:
    return LearnedParam(path=group.path, name=group.name, role=verdict.role, why=verdict.why)


def _has(href: str, path: str, name: str) -> bool:
    url = read(href)
    return isinstance(url, Url) and path_key(url) == path and name in param_names(url)


def _is_beside(href: str, path: str, name: str) -> bool:
    url = read(href)
    return isinstance(url, Url) and path_key(url) == path and name not in param_names(url)


def answer_of(page: TriedPage, follow_nofollow: bool) -> Answer | None:
    """What a trial says; None if it cannot be read. Run by a judge: pages of strangers hold up no coordinator."""
    if page.content is None:
        return None
    try:
        found = parse_page(page.content, url=page.url, content_type=page.content_type, detect_language=False)
    except UnparsablePage:
        return None
    return Answer(
        page.url,
        f"{found.title or ''}\n{found.h1 or ''}".strip(),
        frozenset(found.text.splitlines()),
        found.noindex,
        tuple(_followed(found, follow_nofollow=follow_nofollow)),
    )


def _followed(page: ParsedPage, *, follow_nofollow: bool) -> Iterator[str]:
    """Links of a page that may be followed."""
    for link in page.links:
        if follow_nofollow or not (page.nofollow or "nofollow" in link.rel):
            url = read(link.url, page.base_url)
            if isinstance(url, Url):
                yield url.href
