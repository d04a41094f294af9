"""Asks a language model about a crawl's changes, within bounds, and keeps what it said.

What is asked, and what an answer may do: `domain/changes/advice.py`. Whatever goes wrong is kept as a problem: no
notice depends on an answer.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Protocol
from uuid import UUID

from crawler import telemetry
from crawler.domain.changes.advice import (
    Advice,
    AdviceWish,
    Advised,
    Message,
    NoAdvice,
    digest_of,
    is_cut,
    is_whole,
    prompt_of,
    read_answer,
)
from crawler.domain.changes.page_digest import PageDigest
from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlJob

log = telemetry.logger(__name__)


class Adviser(Protocol):
    @property
    def model(self) -> str: ...
    def ask(self, prompt: Sequence[Message], seconds: float) -> str: ...


class TakeAdvice:
    def __init__(
        self,
        adviser: Adviser | None,
        keep: Callable[[UUID, Sequence[dict[str, Any]]], None],
        clock: Clock,
        *,
        most_pages: int,
        seconds: float,
        aside: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        """`seconds` are for all pages of a crawl together. `aside`: while it is waited for the service."""
        self._adviser = adviser
        self._keep = keep
        self._clock = clock
        self._most_pages = most_pages
        self._seconds = seconds
        self._aside = aside

    def __call__(self, crawl: CrawlJob, wish: AdviceWish, pages: Sequence[PageDigest]) -> Advised:
        """Advice on the first changed pages. What was said before about the same is not asked again."""
        summary = crawl.change_summary
        if self._adviser is None or not summary:
            return Advised(wish)
        kept = [Advice.model_validate(one) for one in summary.get("advice", ())]
        known = {one.prompt: one for one in kept if one.problem is None}
        until, found = time.monotonic() + self._seconds, list[Advice]()
        for page in [page for page in pages if page.lines][: self._most_pages]:
            advice = self._advice(self._adviser, wish.wish, page, known, until - time.monotonic())
            found.append(advice)
            if advice.problem is not None:  # a service that fails once is not waited for again
                log.warning("no_advice", crawl_id=str(crawl.id), why=advice.problem)
                break
        if found and found != kept:
            self._keep(crawl.id, [one.model_dump(mode="json") for one in found])
        return Advised(wish, tuple(found), is_whole(summary, found))

    def _advice(
        self, adviser: Adviser, wish: str, page: PageDigest, known: dict[str, Advice], seconds: float
    ) -> Advice:
        prompt = prompt_of(wish, page)
        digest = digest_of(adviser.model, prompt)
        if digest in known:
            return known[digest].model_copy(update={"is_part": is_cut(page)})
        said: dict[str, Any] = {"url": page.url, "prompt": digest, "model": adviser.model, "at": self._clock()}
        said["is_part"] = is_cut(page)
        if seconds <= 0:
            return Advice(**said, problem="The time for advice was over.")
        try:
            with self._aside():
                answer = adviser.ask(prompt, seconds)
            sentence, matters = read_answer(answer)
        except NoAdvice as exc:
            return Advice(**said, problem=str(exc))
        return Advice(**said, sentence=sentence, matters=matters)
