"""Tells the webhook of a Firecrawl job or monitor its events, in order: what failed is tried again, then given up.

An event is sent at least once; its `webhookId` stays the same. Which events there are: `hook_events.py`. Where they go
and how far they are: `adapters/notices/hook_store.py`.
"""

import time
from collections.abc import Callable, Hashable, Iterator
from contextvars import copy_context
from datetime import datetime, timedelta
from typing import Protocol
from uuid import UUID

import orjson

from crawler import telemetry
from crawler.domain import judging
from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.crawls.project import SINGLE_PAGES_ID
from crawler.domain.hosts.credentials import Credentials
from crawler.domain.hosts.egress import EgressRule
from crawler.domain.notices.hooks import WAITS, Hook, HookEvent, event_body, hook_headers
from crawler.domain.notices.notice import Channel, DeliveryResult
from crawler.domain.urls.url import parse
from crawler.handlers.notices.sender_places import Receiver, SenderPlaces
from crawler.handlers.notices.set_schedule import check_webhook

log = telemetry.logger(__name__)

TURN_SECONDS = 10.0
"""After so long others have their turn."""
HELD = timedelta(minutes=2)
"""No turn takes so long: whoever has had the hook for longer is dead."""
LOOK_SECONDS = 1.0
"""How often it is looked whether a job that goes on has more to tell."""
LATE = timedelta(seconds=5)


class HeldHook(Protocol):
    @property
    def hook(self) -> Hook: ...
    @property
    def told(self) -> int: ...
    @property
    def tries(self) -> int: ...


class Hooks(Protocol):
    def add(self, project_id: UUID, crawl_id: UUID, hook: Hook, now: datetime) -> None: ...
    def set_for(self, project_id: UUID, hook: Hook | None) -> None: ...
    def find_for(self, project_id: UUID) -> Hook | None: ...
    def take(self, crawl_id: UUID, now: datetime, until: datetime) -> HeldHook | None: ...
    def go_on(self, crawl_id: UUID, told: int, until: datetime) -> None: ...
    def rest(self, crawl_id: UUID, until: datetime | None, *, tries: int = 0, answer: str | None = None) -> None: ...
    def put_back(self, crawl_id: UUID, now: datetime) -> None: ...
    def due(self, before: datetime) -> list[UUID]: ...


class HookedCrawls(Protocol):
    def find_crawl(self, crawl_id: UUID) -> CrawlJob | None: ...
    def is_diffed(self, crawl_id: UUID) -> bool: ...


class Secrets(Protocol):
    def sealed(self, credentials: Credentials) -> str: ...
    def opened(self, sealed: str) -> tuple[tuple[str, str], ...]: ...


Events = Callable[[CrawlJob, Hook, int], Iterator[HookEvent]]
"""Events of a job from this number on, as far as they happened."""


class TellHook:
    def __init__(
        self,
        crawls: HookedCrawls,
        kept: Hooks,
        secrets: Secrets,
        events: Events,
        send: Callable[[str, bytes, dict[str, str]], DeliveryResult],
        secret: Callable[[], str | None],
        rule: EgressRule,
        hint: Callable[[UUID, float], None],
        places: SenderPlaces,
        clock: Clock,
        turn_seconds: float = TURN_SECONDS,
    ) -> None:
        self._crawls = crawls
        self._kept = kept
        self._secrets = secrets
        self._events = events
        self._send = send
        self._secret = secret
        self._rule = rule
        self._hint = hint
        self._places = places
        self._clock = clock
        self._turn_seconds = turn_seconds

    def checked(self, hook: Hook, headers: dict[str, str]) -> Hook:
        """The hook as it is kept: its address may be reached, its headers can be sent and are encrypted."""
        url = parse(hook.url).href
        check_webhook(self._rule, url, "webhook")
        sealed = self._secrets.sealed(Credentials.of_headers(headers)) if headers else None
        owner = judging.caller.get()
        return hook.model_copy(update={"url": url, "headers": sealed, "owner": str(owner) if owner else None})

    def begin(self, crawl: CrawlJob, hook: Hook) -> None:
        self._kept.add(crawl.project_id, crawl.id, hook, self._clock())
        self._hint(crawl.id, 0)

    def set_for(self, project_id: UUID, hook: Hook | None) -> None:
        self._kept.set_for(project_id, hook)

    def find_for(self, project_id: UUID) -> Hook | None:
        return self._kept.find_for(project_id)

    def __call__(self, crawl_id: UUID) -> int:
        """How many events were told. Safe to repeat: one at a time tells, and goes on where the last one stopped."""
        crawl = self._crawls.find_crawl(crawl_id)
        if crawl is None:
            return 0
        self._begin_check(crawl)
        now = self._clock()
        held = self._kept.take(crawl_id, now, now + HELD)
        if held is None:
            return 0
        with self._places.place(_names(crawl, held.hook), crawl_id) as is_free:
            if not is_free:
                self._kept.put_back(crawl_id, now)
            return copy_context().run(self._tell, crawl, held) if is_free else 0

    def recover(self) -> None:
        """What waits to be tried again, or lost its message or its teller."""
        for crawl_id in self._kept.due(self._clock() - LATE):
            self._hint(crawl_id, 0)

    def _begin_check(self, crawl: CrawlJob) -> None:
        if crawl.crawl_type is not CrawlType.SCHEDULED or not crawl.status.is_over:
            return
        hook = self._kept.find_for(crawl.project_id)
        if hook is not None and self._crawls.is_diffed(crawl.id):
            self._kept.add(crawl.project_id, crawl.id, hook, self._clock())

    def _tell(self, crawl: CrawlJob, held: HeldHook) -> int:
        hook, told, sent = held.hook, held.told, 0
        judging.caller.set(hook.owner or crawl.project_id)  # one never has all judges
        receiver = Receiver.of(Channel.WEBHOOK, hook.url)
        headers = dict(self._secrets.opened(hook.headers)) if hook.headers else {}
        until = time.monotonic() + self._turn_seconds
        for event in self._events(crawl, hook, told):
            if told > held.told and time.monotonic() > until:
                self._rest(crawl.id, 0)
                return sent
            if hook.wants(event.type):
                with self._places.telling(receiver, crawl.project_id, crawl.id) as is_free:
                    answer = self._post(crawl.id, hook, event, told, headers) if is_free else None
                if answer is None:
                    self._kept.put_back(crawl.id, self._clock())
                    return sent
                if not answer.delivered:
                    self._failed(crawl.id, answer, held.tries if not sent else 0)
                    return sent
                sent += 1
            told += 1
            self._kept.go_on(crawl.id, told, self._clock() + HELD)
        if crawl.status.is_over:
            self._kept.rest(crawl.id, None)
        else:
            self._rest(crawl.id, LOOK_SECONDS)
        return sent

    def _post(self, job_id: UUID, hook: Hook, event: HookEvent, number: int, own: dict[str, str]) -> DeliveryResult:
        body = orjson.dumps(event_body(event, job_id, number, hook.metadata))
        return self._send(hook.url, body, hook_headers(body, own, self._secret()))

    def _rest(self, crawl_id: UUID, seconds: float) -> None:
        # Due a little before the message comes: clocks of two machines differ.
        self._kept.rest(crawl_id, self._clock() + timedelta(seconds=seconds / 2))
        self._hint(crawl_id, seconds)

    def _failed(self, crawl_id: UUID, answer: DeliveryResult, tries: int) -> None:
        is_over = answer.blocked or answer.gone or tries >= len(WAITS)
        until = None if is_over else self._clock() + WAITS[tries]
        self._kept.rest(crawl_id, until, tries=tries + 1, answer=answer.words)
        log.warning("hook_failed", crawl_id=str(crawl_id), tries=tries + 1, gives_up=is_over, answer=answer.words[:200])


def _names(crawl: CrawlJob, hook: Hook) -> set[Hashable]:
    """Whose places it takes. The project of single pages is everybody's."""
    own = {crawl.project_id} if crawl.project_id != SINGLE_PAGES_ID else set()
    return {*own, *((hook.owner,) if hook.owner else ())}
