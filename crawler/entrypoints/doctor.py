"""Health checks of Postgres, schema, Redis, broker, queues, browser, mail and embeddings, each with a fix."""

import re
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from redis import Redis

from crawler.adapters.browser.chromium import find_chromium
from crawler.adapters.browser.fetcher import why_unavailable
from crawler.adapters.browser.options import RECORDS
from crawler.adapters.browser.start_failures import BrowserTrouble
from crawler.adapters.frontier.frontier_shard import FrontierShard
from crawler.adapters.frontier.redis_connection import check_redis
from crawler.adapters.frontier.sharded_frontier import ShardedFrontier
from crawler.adapters.objects.object_store import ObjectStore
from crawler.adapters.operating.live_workers import RENDER, WorkerState
from crawler.adapters.operating.queues import QUEUES
from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.schema import check_schema, migrate, present_revision
from crawler.adapters.postgres.secret_key_owner import check_secret_key
from crawler.bootstrap import App
from crawler.config import Settings
from crawler.domain.canaries import EVERY_SECONDS, PATIENCE_SECONDS, Canary
from crawler.errors import CrawlerError
from crawler.redaction import redact
from crawler.supervisor import read_troubles

_CONTACT = re.compile(r"https?://|@")
_BEFORE_REMEDY = re.compile(r"[:;] ")
NO_RENDER_WORKER = "No render worker is there: start one where Chromium is: celery -A workers.app worker -Q render"

PATIENCE_OF_LOOKS = 5.0
_LOOKS = ThreadPoolExecutor(max_workers=8, thread_name_prefix="look")
"""A check of a server that hangs ends with its connection's timeout; few such checks may wait at the same time."""


class Check(NamedTuple):
    name: str
    ok: bool
    message: str
    fix: str | None = None
    required: bool = True
    """False if the system works without it, only less well."""


def diagnose(tools: App, *, fix: bool = False, start_browser: bool = True) -> list[Check]:
    """All checks, each with a fix. With `fix` the schema is migrated first.

    `start_browser` starts a browser on this machine, the only way to know that it works. That is too slow for a health
    check that is polled every few seconds: there the workers' own announcements count.
    """
    if fix:
        with suppress(CrawlerError):  # a failed migration is reported by the checks below
            migrate(tools.database)
    checks: list[tuple[str, Callable[[], str]]] = [
        ("postgres", lambda: _postgres(tools)),
        ("schema", lambda: _schema(tools)),
        ("redis", lambda: _redis(tools)),
        ("broker", lambda: _broker(tools)),
        *((f"frontier {number}", partial(_shard, server)) for number, server in enumerate(tools.frontier_redis, 1)),
    ]
    if len(tools.frontier_redis) > 1:
        checks.append(("frontier", lambda: _shards(tools)))
    if start_browser and (objects := tools.objects):  # not where it is polled: it writes
        checks.append(("storage", lambda: _storage(objects)))
    found = _look(checks)
    browser = browser_here(tools.settings) if start_browser else _browser_of_workers(tools, found)
    # Runtime settings are stored in Postgres; without its tables the environment's values hold.
    has_settings = any(check.name == "schema" and check.ok for check in found)
    contact = _contact(tools.user_agent if has_settings else tools.settings.user_agent)
    encryption = _look([("encryption", lambda: _encryption(tools))]) if has_settings else []
    mail = _mail(tools, connect=start_browser) if has_settings else []
    vectors = _vectors(tools, ask=start_browser) if has_settings else []
    processes = _processes(tools.settings.data_dir)
    return [*map(_once, found, [None, *found]), *encryption, *processes, browser, contact, *mail, *vectors]


def _processes(data_dir: Path) -> list[Check]:
    """Failed checks for processes of `crawler up` on this machine that do not stay up."""
    return [
        Check(
            f"process {name}",
            ok=False,
            message=f"{_sentence(words).rstrip('.')}. It is started again after growing pauses.",
            fix=f"See {data_dir / 'logs' / name}.log.",
            required=False,
        )
        for name, words in sorted(read_troubles(data_dir).items())
    ]


def queue_checks(tools: App) -> list[Check]:
    """Whether each queue is consumed.

    Not required: a missing worker on another machine does not make this service unhealthy.
    """
    try:
        canaries, renderers = tools.operating.canaries.read(QUEUES), tools.operating.live_workers.of(RENDER)
    except CrawlerError as exc:
        return [told("queues", exc)._replace(required=False)]
    now = time.time()
    return [_queue(queue, canary, now) for queue, canary in canaries.items()] + _render_workers(renderers)


def _render_workers(workers: Mapping[str, WorkerState]) -> list[Check]:
    """Failed checks for workers that consume the render queue but cannot start a browser."""
    return [_lacks(f"worker {name}", told.lack) for name, told in sorted(workers.items()) if told.lack]


def _queue(queue: str, canary: Canary, now: float) -> Check:
    name, age, waits = f"queue {queue}", canary.age(now), canary.waits(now)
    if waits > PATIENCE_SECONDS:
        wrong = f"Nobody has taken a message from it for {round(waits)} s."
        remedy = f"Start a worker for it, or again: celery -A workers.app worker -Q {queue}"
        return Check(name, ok=False, message=wrong, fix=remedy, required=False)
    if canary.sent_at is None or (not canary.is_out and (age or 0) > PATIENCE_SECONDS + EVERY_SECONDS):
        remedy = "Start a coordinator: celery -A workers.app worker -Q coordinator"
        return Check(name, ok=False, message="No coordinator looks after it.", fix=remedy, required=False)
    words = "A canary is on its way through it." if age is None else f"It was consumed {round(age)} s ago."
    return Check(name, ok=True, message=words, required=False)


def _once(check: Check, before: Check | None) -> Check:
    """Shorten a check that fails for the same reason as the one before."""
    if check.ok or before is None or before.message != check.message:
        return check
    return check._replace(message="It cannot be looked at yet.", fix=f"Mend {before.name.capitalize()} first.")


def _look(checks: Sequence[tuple[str, Callable[[], str]]]) -> list[Check]:
    """Run all checks in parallel with a timeout, so that a server that hangs does not hide the other results."""
    until = time.monotonic() + PATIENCE_OF_LOOKS
    begun = [(name, _LOOKS.submit(check)) for name, check in checks]
    return [_seen(name, look, max(0.0, until - time.monotonic())) for name, look in begun]


def _seen(name: str, look: Future[str], seconds: float) -> Check:
    try:
        return Check(name, ok=True, message=look.result(timeout=seconds))
    except CrawlerError as exc:
        return told(name, exc)
    except TimeoutError:
        look.cancel()
        wrong = f"It has not answered for {PATIENCE_OF_LOOKS:g} s."
        return Check(name, ok=False, message=wrong, fix="Look whether it is stopped or overloaded.")


def told(name: str, exc: CrawlerError) -> Check:
    """A failed check from an error. Our error messages name the problem, and after a semicolon the fix."""
    wrong, _, remedy = exc.message.partition("; ")
    return Check(name, ok=False, message=f"{wrong.rstrip('.')}.", fix=_sentence(remedy) if remedy else None)


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _postgres(tools: App) -> str:
    present_revision(tools.database)
    return "Postgres answers."


def _schema(tools: App) -> str:
    check_schema(tools.database)
    return "The schema is the one this version needs."


def _encryption(tools: App) -> str:
    with transaction(tools.database) as db:
        check_secret_key(db, tools.secret_box)
    return "This machine can read the credentials in the database."


def _redis(tools: App) -> str:
    check_redis(tools.redis, time.time())
    return "Redis answers, keeps what it is given, and its clock agrees with ours."


def _shard(server: Redis) -> str:
    check_redis(server, time.time(), FrontierShard.setting)
    return "This frontier server answers, keeps what it is given, and its clock agrees with ours."


def _shards(tools: App) -> str:
    assert isinstance(tools.frontier, ShardedFrontier)
    tools.frontier.check_places()
    return f"All processes know the same {len(tools.frontier_redis)} frontier servers in the same order."


def _broker(tools: App) -> str:
    tools.hints.ping()
    return f"The Celery broker at {redact(tools.settings.broker)} answers."


def _storage(objects: ObjectStore) -> str:
    objects.try_to_write()
    return f"The object storage at {objects.url} keeps what it is given."


def browser_here(settings: Settings) -> Check:
    """Whether the browser of this machine and its driver start."""
    found = find_chromium(settings.chromium)
    lack = why_unavailable(settings.chromium)
    if found and not lack:
        lack = _try_out(found, settings)
    if not lack:
        return Check("browser", ok=True, message=f"{found} renders pages that need it.", required=False)
    return _lacks("browser", lack)


def _browser_of_workers(tools: App, found: Sequence[Check]) -> Check:
    """Whether a worker has announced that it can render, on whatever machine."""
    if any(check.name == "redis" and not check.ok for check in found):
        words = "It cannot be looked at yet."
        return Check("browser", ok=False, message=words, fix="Mend Redis first.", required=False)
    try:
        workers = tools.operating.live_workers.of(RENDER)
    except CrawlerError as exc:
        return told("browser", exc)._replace(required=False)
    if not workers:
        return _lacks("browser", NO_RENDER_WORKER)
    able = sum(not state.lack for state in workers.values())
    if not able:
        return _lacks("browser", next(iter(workers.values())).lack)
    return Check(
        "browser", ok=True, message=f"{able} of {len(workers)} render workers can render pages.", required=False
    )


def _lacks(name: str, lack: str) -> Check:
    wrong, remedy = (*_BEFORE_REMEDY.split(lack, maxsplit=1), "")[:2]
    message = f"{wrong.rstrip('.')}; pages stay as they are fetched."
    return Check(name, ok=False, message=message, fix=_sentence(remedy) or None, required=False)


def _try_out(program: Path, settings: Settings) -> str | None:
    """Start a browser. If it works, clear the workers' record of its failure, so that they use it at once."""
    from crawler.adapters.browser.driver import try_out  # noqa: PLC0415 - needs the extra `render`

    lack = try_out(program)
    if not lack:
        BrowserTrouble(settings.data_dir / RECORDS, program).clear()
    return lack


def _mail(tools: App, *, connect: bool) -> list[Check]:
    """Checks of the mail server. None if no schedule sends mail and no server is set.

    `connect` opens a connection to it.
    """
    try:
        mailing, lack = tools.notices.schedules.count_mailing(), tools.notices.warn_about_channels.mail_warning()
    except CrawlerError as exc:
        return [told("mail", exc)._replace(required=False)]
    if mailing and lack:
        many = f"{mailing} schedules and recipients ask for mails"
        wants = "1 schedule or recipient asks for mails" if mailing == 1 else many
        return [Check("mail", ok=False, message=f"{wants}. {lack}", fix="Name a mail server.", required=False)]
    return _mail_server(tools) if connect and tools.notices.mailer.place else []


def _mail_server(tools: App) -> list[Check]:
    place, wrong = tools.notices.mailer.place, tools.notices.mailer.why_unreachable()
    if wrong is None:
        return [Check("mail", ok=True, message=f"The mail server {place} answers.", required=False)]
    message = f"The mail server {place} {wrong}."
    return [Check("mail", ok=False, message=message, fix="Correct CRAWLER_SMTP_URL.", required=False)]


def _vectors(tools: App, *, ask: bool) -> list[Check]:
    """Checks of the embedding service. None if it is not configured.

    `ask` requests one embedding, which may cost money.
    """
    if tools.settings.embed_url is None:
        return []
    try:
        if not tools.documents.vectors.available():
            wrong = "The database has no pgvector, so documents are found by words alone."
            remedy = "As a superuser, once: CREATE EXTENSION vector."
            return [Check("vectors", ok=False, message=wrong, fix=remedy, required=False)]
        if ask and tools.documents.query_embedder is not None:
            tools.documents.query_embedder.embed(["A word."])
    except CrawlerError as exc:
        return [told("vectors", exc)._replace(required=False)]
    words = f"The embedding service makes vectors of {tools.settings.embed_dimension} numbers." if ask else "It is set."
    return [Check("vectors", ok=True, message=words, required=False)]


def _contact(user_agent: str) -> Check:
    if _CONTACT.search(user_agent) and "example.org" not in user_agent:
        return Check("user_agent", ok=True, message="The user agent names a contact.", required=False)
    remedy = "Set CRAWLER_USER_AGENT to something like 'mybot/1.0 (+https://my.site/bot)'."
    return Check(
        "user_agent", ok=False, message="The user agent names no contact of yours.", fix=remedy, required=False
    )
