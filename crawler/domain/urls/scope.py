"""Which URLs belong to a crawl, in which order, and by which rule."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Self

from crawler.domain.crawls.crawl import CrawlConfig, IncludeMode
from crawler.domain.crawls.frontier import Priority
from crawler.domain.patterns import compile_pattern
from crawler.domain.reasons import Reason
from crawler.domain.urls.acting_links import changes_something, signs_out
from crawler.domain.urls.presets import PatternRule, looks_like_shopify, patterns_of
from crawler.domain.urls.traps import trap
from crawler.domain.urls.url import QueryRule, Url, UrlRefused, digest, normalize, parse

__all__ = ["Admission", "Candidate", "Refusal", "Scope", "looks_like_shopify"]

_CACHE_SIZE = 1 << 12
"""Per scope, and a worker may hold many."""


class Admission(NamedTuple):
    priority: int
    rule: str


class Refusal(NamedTuple):
    reason: Reason
    rule: str


class Candidate(NamedTuple):
    """A URL with all the frontier needs to know of it."""

    url: Url
    normalized: str
    digest: bytes
    verdict: Admission | Refusal


class _Rule(NamedTuple):
    search: Callable[[str], object | None]
    text: str


_HOMEPAGE = Admission(Priority.HOMEPAGE, "homepage")
_GIVEN = Admission(Priority.INCLUDED, "one of the given URLs")
_IN_SCOPE = Admission(Priority.OTHER, "in scope")
_NOT_PREFERRED = Admission(Priority.OTHER, "no include pattern matches, crawled after those that do")
_NOT_INCLUDED = Refusal(Reason.NOT_INCLUDED, "no include pattern matches")
_NOT_GIVEN = Refusal(Reason.NOT_INCLUDED, "only the given URLs are fetched")


@dataclass(frozen=True)
class Scope:
    """The rules of one crawl, applied in a fixed order: host, path prefix, traps, exclude, include, depth."""

    rule: QueryRule
    homes: frozenset[str]
    """Keys of the homepage: http or https, www. or not."""
    hosts: frozenset[str]
    suffix: str
    """Ending of the hosts of subdomains; empty when they are not wanted."""
    allowed: frozenset[str]
    """Hosts that were named besides the site's own, or by a page to begin with; they stay when the site moves."""
    prefix: str
    include: tuple[_Rule, ...]
    exclude: tuple[_Rule, ...]
    include_mode: IncludeMode
    max_depth: int | None
    given: frozenset[str] | None = None
    """Keys of a fetch-only crawl: nothing else is in scope."""
    anywhere: bool = False
    """Given URLs may redirect to any host."""
    is_signed_in: bool = False
    """Links that would end the session are not followed."""
    _known: dict[str, Candidate] = field(default_factory=dict, compare=False, repr=False)
    """Verdicts by href, without regard to depth. Pages share most of their links."""

    @classmethod
    def of(cls, seed_url: str, config: CrawlConfig, shopify: bool = False) -> Self:
        """The scope of a crawl from `seed_url`; `shopify` is what `looks_like_shopify` said of its homepage."""
        seed = parse(seed_url)
        rule = QueryRule.of(config)
        patterns = patterns_of(config, shopify=shopify)
        return cls(
            rule=rule,
            homes=_spellings(seed, rule),
            hosts=_with_and_without_www(seed.host),
            suffix="." + _bare(seed.host) if config.allow_subdomains else "",
            allowed=_named_hosts((*config.allowed_hosts, *config.start_urls)),
            prefix=_clean_prefix(config.path_prefix),
            include=_compiled(patterns.include),
            exclude=_compiled(patterns.exclude),
            include_mode=config.include_mode,
            max_depth=config.max_depth,
        )

    @classmethod
    def for_urls(cls, urls: Iterable[str], config: CrawlConfig, *, anywhere: bool = False) -> Self:
        """Exactly these URLs, whatever the patterns say. Unusable ones are left out: nobody can ask about them."""
        rule = QueryRule.of(config)
        usable = [url for url in map(_parsed, urls) if url]
        return cls(
            rule=rule,
            homes=frozenset(),
            hosts=frozenset().union(*(_with_and_without_www(url.host) for url in usable)),
            suffix="",
            allowed=frozenset(),
            prefix="",
            include=(),
            exclude=(),
            include_mode=config.include_mode,
            max_depth=None,
            given=frozenset(normalize(url, rule) for url in usable),
            anywhere=anywhere,
        )

    def judge(self, url: Url, normalized: str, depth: int) -> Admission | Refusal:
        """Whether the URL is crawled. `normalized` is its key by this scope's `rule`."""
        known = self._known.get(url.href) or self._learn(url, normalized)
        return self._at_depth(known.verdict, depth)

    def candidate(self, url: Url, depth: int) -> Candidate:
        """`judge`, key and digest in one: what is done for each link of each page."""
        known = self._known.get(url.href) or self._learn(url, normalize(url, self.rule))
        verdict = self._at_depth(known.verdict, depth)
        return known if verdict is known.verdict else known._replace(verdict=verdict)

    def _learn(self, url: Url, normalized: str) -> Candidate:
        known = Candidate(url, normalized, digest(normalized), self._judge_anew(url, normalized))
        if len(self._known) >= _CACHE_SIZE:
            self._known.clear()
        self._known[url.href] = known
        return known

    def _at_depth(self, verdict: Admission | Refusal, depth: int) -> Admission | Refusal:
        if self.max_depth is None or depth <= self.max_depth:
            return verdict
        if verdict is _HOMEPAGE or isinstance(verdict, Refusal):
            return verdict
        far = f"more than {self.max_depth} links from the seed" if self.max_depth else "no links are followed"
        return Refusal(Reason.MAX_DEPTH, far)

    def moved_to(self, url: Url) -> Self:
        """The scope after the homepage (or, in a fetch-only crawl, a given URL) answered with a redirect to `url`.

        Inside the site only the homepage's address changes; to another domain the whole scope moves. A fetch-only
        crawl stays on the hosts of its list.
        """
        key = normalize(url, self.rule)
        if self.given is not None:
            given = self.given | {key} if self._covers(url) else self.given
            return replace(self, given=given, _known={})
        if self._covers(url):
            return replace(self, homes=self.homes | _spellings(url, self.rule), _known={})
        return replace(
            self,
            homes=_spellings(url, self.rule),
            hosts=_with_and_without_www(url.host),
            suffix="." + _bare(url.host) if self.suffix else "",
            _known={},
        )

    def _judge_anew(self, url: Url, normalized: str) -> Admission | Refusal:
        if normalized in self.homes:
            return _HOMEPAGE
        if not self._covers(url):
            return Refusal(Reason.OFF_DOMAIN, f"host {url.host} is not in scope")
        if self.given is not None:
            return _GIVEN if normalized in self.given else _NOT_GIVEN
        if self.prefix and not _under(url.path, self.prefix):
            return Refusal(Reason.OFF_DOMAIN, f"path outside '{self.prefix}'")
        rule = trap(url)
        if rule:
            return Refusal(Reason.TRAP, rule)
        if self.is_signed_in and signs_out(url):
            return Refusal(Reason.TRAP, "it signs out, and the rest of the crawl would be without its credentials")
        if self.is_signed_in and changes_something(url):
            return Refusal(
                Reason.TRAP, "it says that it deletes, stops or resets something, and the crawl is signed in"
            )
        if (view := self.rule.view(url)) is not None:
            return Refusal(
                Reason.TRAP, f"`{view}` shows a known page in another way; query_params or meaningful_params changes it"
            )
        return self._judge_patterns(url.href)

    def _judge_patterns(self, href: str) -> Admission | Refusal:
        excluded = _first(self.exclude, href)
        if excluded:
            return Refusal(Reason.EXCLUDED, excluded)
        if not self.include:
            return _IN_SCOPE
        included = _first(self.include, href)
        if included:
            return Admission(Priority.INCLUDED, included)
        return _NOT_PREFERRED if self.include_mode is IncludeMode.PREFER else _NOT_INCLUDED

    def _covers(self, url: Url) -> bool:
        host = url.host
        if self.anywhere or host in self.hosts or host in self.allowed:
            return True
        return bool(self.suffix and host.endswith(self.suffix))


def _first(rules: tuple[_Rule, ...], href: str) -> str | None:
    for rule in rules:
        if rule.search(href):
            return rule.text
    return None


def _compiled(rules: tuple[PatternRule, ...]) -> tuple[_Rule, ...]:
    return tuple(_Rule(_searcher(rule), rule.text) for rule in rules)


def _searcher(rule: PatternRule) -> Callable[[str], object | None]:
    """Each new URL of most crawls is searched for our own patterns: RE2 would take some 20 times as long for it."""
    return re.compile(rule.pattern).search if rule.is_ours else compile_pattern(rule.pattern).search


def _parsed(raw: str) -> Url | None:
    try:
        return parse(raw)
    except UrlRefused:
        return None


def _bare(host: str) -> str:
    """A host without `www.`, unless that leaves a mere top-level domain."""
    rest = host.removeprefix("www.")
    return rest if "." in rest else host


def _with_and_without_www(host: str) -> frozenset[str]:
    bare = _bare(host)
    return frozenset({bare, f"www.{bare}"})


def _named_hosts(names: tuple[str, ...]) -> frozenset[str]:
    """Hosts as people write them: docs.example.com, example.com:8080, https://example.com/."""
    hosts = (parse(name if "://" in name else f"http://{name}").host for name in names)
    return frozenset().union(*map(_with_and_without_www, hosts))


def _spellings(url: Url, rule: QueryRule) -> frozenset[str]:
    rest = normalize(url, rule).removeprefix(f"{url.scheme}://{url.host}")
    hosts = _with_and_without_www(url.host)
    return frozenset(f"{scheme}://{host}{rest}" for scheme in ("http", "https") for host in hosts)


def _clean_prefix(prefix: str) -> str:
    """A path prefix as a folder without its last slash, so that /docs covers /docs and /docs/a but not /docsy."""
    folder = prefix.strip().strip("/").lower()
    return f"/{folder}" if folder else ""


def _under(path: str, prefix: str) -> bool:
    lowered = path.lower()
    return lowered == prefix or lowered.startswith(prefix + "/")
