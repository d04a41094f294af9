"""Preview of the scope: would these URLs be crawled, and by which rule? With options that are not saved yet.

The rules are in `domain/urls/scope.py`, the built-in patterns in `domain/urls/presets.py`.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.reasons import Reason
from crawler.domain.urls.scope import Admission, Scope
from crawler.domain.urls.url import Unusable, normalize, parse, read
from crawler.errors import Invalid, TooSlowToTry
from crawler.handlers.crawls.start_crawl import valid_config

MOST_SECONDS = 2.0
"""CPU time of one preview. What patterns may cost by themselves is bounded where they are written."""


class Preview(NamedTuple):
    url: str
    """The URL as it was given."""
    admitted: bool
    rule: str
    normalized_url: str | None = None
    priority: int | None = None
    reason: Reason | None = None


class PreviewScope:
    def __init__(self, store: ProjectReader) -> None:
        self._store = store

    def __call__(
        self, project_id: UUID, urls: Sequence[str], *, config: Mapping[str, Any], seed_url: str | None, shopify: bool
    ) -> list[Preview]:
        """Judge URLs by the project's settings with these changes; `shopify`: as if its homepage were a Shopify shop.

        Neither robots.txt nor depth count: they are known only when a crawl finds the URL.
        """
        project = self._store.get_project(project_id)
        seed = seed_url or project.website_url
        if seed is None:
            raise Invalid(f"Project {project.name!r} has no website_url, so a preview needs a seed_url.")
        options = valid_config({**project.settings.model_dump(), **config})
        scope = Scope.of(parse(seed).href, options, shopify=shopify)
        return _judged(scope, urls, parse(seed).href)


def _judged(scope: Scope, urls: Sequence[str], base: str) -> list[Preview]:
    until, found = time.thread_time() + MOST_SECONDS, []
    for raw in urls:
        if time.thread_time() > until:
            raise TooSlowToTry
        found.append(_judge(scope, raw, base))
    return found


def _judge(scope: Scope, raw: str, base: str) -> Preview:
    url = read(raw, base)
    if isinstance(url, Unusable):
        return Preview(raw, admitted=False, rule=url.rule, reason=url.reason)
    key = normalize(url, scope.rule)
    verdict = scope.judge(url, key, 0)
    if isinstance(verdict, Admission):
        return Preview(raw, admitted=True, rule=verdict.rule, normalized_url=key, priority=verdict.priority)
    return Preview(raw, admitted=False, rule=verdict.rule, normalized_url=key, reason=verdict.reason)
