"""What watching costs: thousands of rules beside a comparison, a digest of many projects, the picker's page."""

import multiprocessing
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import NamedTuple
from uuid import UUID

import psutil
from sqlalchemy import text

from benchmarks.diff import stock, tools_of
from benchmarks.options import Options
from benchmarks.ours import ending_with_us
from crawler.adapters.postgres.schema import migrate
from crawler.bootstrap import App
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlType
from crawler.domain.crawls.project import Project
from crawler.domain.ids import new_id
from crawler.domain.notices.digests import digest_mail
from crawler.domain.notices.notice import Channel, NoticeKind, Target
from crawler.domain.watching.rules import read_order
from crawler.embedded import EmbeddedServers

TITLE = "Watching what matters"
PAGES = 100_000
RULES = 10_000
PROJECTS = 500
MOST_MORE = 0.2
MOST_DIGEST_SECONDS = 2.0
MOST_PICKER_SECONDS = 0.3


class Picker(NamedTuple):
    inert: float
    matches: float


class Compared(NamedTuple):
    seconds: float
    cpu_seconds: float
    """Of the process and its judges: on a busy machine the only number that says something."""


def run(options: Options) -> str:
    pages, rules = options.size(PAGES, 2_000), options.size(RULES, 200)
    projects = options.size(PROJECTS, 50)
    with (
        tempfile.TemporaryDirectory(prefix="bench-watching-") as folder,
        EmbeddedServers(Path(folder)) as servers,
        ending_with_us(Path(folder)),
    ):
        tools = tools_of(servers.database_url, servers.redis_url)
        migrate(tools.database)
        crawl_id = stock(tools, pages)
        _keep_versions(tools, crawl_id)
        project_id = tools.store.get_crawl(crawl_id).project_id
        picker = _picker(tools, project_id, crawl_id, options.repeats)
        digest = median(_digest(tools, projects, number) for number in range(options.repeats))
        tools.database.dispose()
        job = (servers.database_url, servers.redis_url, crawl_id)
        with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as processes:
            without = _median(processes.apply(_compare, job) for _ in range(options.repeats))
            _add_rules(tools, project_id, pages, rules)
            tools.database.dispose()
            watched = _median(processes.apply(_compare, job) for _ in range(options.repeats))
        found = len((tools.store.get_crawl(crawl_id).change_summary or {}).get("watched", ()))
    return table((pages, rules, projects), (without, watched), found, digest, picker)


def _compare(database_url: str, redis_url: str, crawl_id: UUID) -> Compared:
    tools = tools_of(database_url, redis_url)
    tools.store.get_crawl(crawl_id)  # connected
    began, used = time.perf_counter(), _cpu_seconds()
    tools.changes.diff_crawl(crawl_id)
    return Compared(time.perf_counter() - began, _cpu_seconds() - used)


def _cpu_seconds() -> float:
    """Of this process, and of all below it."""
    own = psutil.Process()
    return sum(sum(process.cpu_times()[:4]) for process in (own, *own.children(recursive=True)))


def _median(rounds: Iterable[Compared]) -> Compared:
    seconds, cpu_seconds = zip(*rounds, strict=True)
    return Compared(median(seconds), median(cpu_seconds))


def table(
    sizes: tuple[int, int, int], compared: tuple[Compared, Compared], found: int, digest: float, picker: Picker
) -> str:
    pages, rules, projects = sizes
    without, watched = compared
    more, most = watched.cpu_seconds / without.cpu_seconds - 1, MOST_PICKER_SECONDS * 1000
    return f"""{rules:,} rules, each with a field, over {pages:,} pages of which two in a hundred changed; {found:,}
changes of values are kept in the summary. A digest gathers one notice of each of {projects} projects from the
database into one mail. The picker shows a page of a manual, and what a selector named in ten versions. Medians.

| | measured | wanted |
|---|--:|--:|
| CPU seconds of a comparison without rules (wall) | {without.cpu_seconds:.2f} ({without.seconds:.2f}) | |
| with them (wall) | {watched.cpu_seconds:.2f} ({watched.seconds:.2f}) | |
| more CPU | {more:.1%} | < {MOST_MORE:.0%} |
| seconds of a digest | {digest:.2f} | < {MOST_DIGEST_SECONDS:.0f} |
| milliseconds of the picker's page | {picker.inert * 1000:.0f} | < {most:.0f} |
| milliseconds of what a selector named in ten versions | {picker.matches * 1000:.0f} | < {most:.0f} |"""


def _add_rules(tools: App, project_id: UUID, pages: int, rules: int) -> None:
    """Each for one page, spread over all of them: half of those that changed have one."""
    order = read_order({"pattern": "/section/page-1$", "fields": {"last": "main > p:last-child"}})
    body = order.model_dump_json(include={"watch", "fields", "products", "tell"})
    given = {"project": project_id, "rules": rules, "step": max(1, pages // rules), "body": body}
    with tools.database.begin() as db:
        db.execute(text(_RULES), given)


def _keep_versions(tools: App, crawl_id: UUID) -> None:
    """Pages that did not change keep their version, as the engine does it."""
    with tools.database.begin() as db:
        db.execute(text(_SAME_VERSIONS), {"crawl": crawl_id})


def _digest(tools: App, projects: int, number: int) -> float:
    """Seconds from what waits in the database to the mail."""
    now, target = tools.clock(), Target(Channel.EMAIL, f"ops-{number}@example.org", 1)
    mail = {"subject": "[crawler] 3 pages changed", "text": "A line that changed.\n" * 60, "html": "<p>x</p>" * 200}
    last = None
    for n in range(projects):
        project = tools.store.add_project(Project.create(name=f"digest {number} {n}", website_url=None, now=now))
        crawl = CrawlJob.create(
            project_id=project.id, seed_url="http://a.test/", domain="a.test", crawl_type=CrawlType.SCHEDULED,
            config=CrawlConfig(), now=now,
        )  # fmt: skip
        last = tools.store.add_crawl(crawl).id
        identity = new_id(int(now.timestamp() * 1000))
        tools.notices.notifications.claim(identity, project.id, last, NoticeKind.CHANGES, target, mail, now)
    assert last is not None
    began = time.perf_counter()
    waiting = tools.notices.notifications.take_due(target.channel.value, target.address, tools.clock())
    told = digest_mail("crawler", [kept.payload for kept in waiting])
    seconds = time.perf_counter() - began
    assert told.subject == f"[crawler] {projects} notices"
    return seconds


def _picker(tools: App, project_id: UUID, crawl_id: UUID, repeats: int) -> Picker:
    page_id = _ten_versions(tools, crawl_id)
    tools.watching.pick.inert(project_id, page_id)  # a judge is there from now on
    inert, named = [], []
    for _ in range(max(5, repeats)):
        began = time.perf_counter()
        tools.watching.pick.inert(project_id, page_id)
        inert.append(time.perf_counter() - began)
        began = time.perf_counter()
        picked = tools.watching.pick(project_id, page_id, selector="main > p:last-child")
        named.append(time.perf_counter() - began)
        assert [one.count for one in picked.versions] == [1] * 10
    return Picker(median(inert), median(named))


def _ten_versions(tools: App, crawl_id: UUID) -> UUID:
    """A page that has two versions gets eight more like the newest."""
    with tools.database.begin() as db:
        page_id: UUID = db.execute(text(_EDITED_PAGE), {"crawl": crawl_id}).scalar_one()
        db.execute(text(_MORE_VERSIONS), {"crawl": crawl_id, "page": page_id})
    return page_id


_RULES = """
INSERT INTO watch_rules (id, project_id, pattern, body)
SELECT gen_random_uuid(), :project, '/section/page-' || n * :step || '$', CAST(:body AS jsonb)
FROM generate_series(1, :rules) n
"""
_SAME_VERSIONS = """
UPDATE crawl_urls u SET version_id = b.version_id FROM crawl_discovered_urls b
WHERE u.crawl_job_id = :crawl AND b.crawl_job_id <> :crawl AND b.normalized_url = u.normalized_url
    AND b.content_hash = u.content_hash
"""
_EDITED_PAGE = "SELECT page_id FROM page_versions WHERE crawl_id = :crawl AND snapshot_id IS NOT NULL LIMIT 1"
_MORE_VERSIONS = """
INSERT INTO page_versions (id, page_id, crawl_id, content_hash, crawl_method, snapshot_id, fetched_at)
SELECT gen_random_uuid(), page_id, gen_random_uuid(), content_hash, crawl_method, snapshot_id,
    fetched_at - n * interval '1 day'
FROM page_versions, generate_series(1, 8) n WHERE page_id = :page AND crawl_id = :crawl
"""
