"""The same parts and columns without Celery, leases or ledger: what the machine could do if nothing could go wrong.

Two processes share a list of URLs by their hash and tell each other new ones over a pipe; pages go to Postgres in
batches of 96. `python -m benchmarks.bare_loop URL DATABASE_URL`.
"""

import hashlib
import json
import multiprocessing
import sys
import time
from collections import deque
from multiprocessing.connection import Connection

import psycopg2
import zstandard
from psycopg2.extras import execute_values

from crawler.adapters.curl.fetcher import CurlFetcher
from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.crawls.fetching import FetchRequest
from crawler.domain.hosts.egress import EgressRule
from crawler.domain.pages.parsing import parse_page
from crawler.domain.urls.scope import Admission, Scope
from crawler.domain.urls.url import Url, parse, resolver

_TABLE = """
CREATE TABLE IF NOT EXISTS bare_pages (normalized_url text PRIMARY KEY, url text, title text, h1 text, description text,
    content_text text, word_count integer, language text, content_hash bytea, links jsonb, snapshot bytea)
"""
QUIET_SECONDS = 2.0
"""After so long without work a process takes the other's silence for the end."""
_WARM = b"<html><body><p>A few words, so that the language model is there before pages are measured.</p></body></html>"
_INSERT = "INSERT INTO bare_pages VALUES %s ON CONFLICT DO NOTHING"


class Half:
    """One of two processes."""

    def __init__(self, me: int, seed: str, database: str, other: Connection) -> None:
        self.me, self.other = me, other
        self.scope = Scope.of(seed, CrawlConfig())
        self.fetcher = CurlFetcher(user_agent="bare/1", egress=EgressRule.parse(("127.0.0.0/8",)))
        self.db = psycopg2.connect(database)
        self.seen: set[bytes] = set()
        self.queue: deque[str] = deque()
        self.rows: list[tuple[object, ...]] = []
        self.pages = 0
        self.compress = zstandard.ZstdCompressor(level=3).compress
        self.take(parse(seed))

    def take(self, url: Url) -> None:
        candidate = self.scope.candidate(url, 1)
        if candidate.digest in self.seen or not isinstance(candidate.verdict, Admission):
            return
        self.seen.add(candidate.digest)
        if candidate.digest[0] % 2 == self.me:
            self.queue.append(url.href)
        else:
            self.other.send(url.href)

    def work(self) -> None:
        quiet = time.monotonic()
        while time.monotonic() - quiet < QUIET_SECONDS:
            while self.other.poll():
                self.take(parse(self.other.recv()))
            while self.queue and self.fetcher.active < 16:
                self.fetcher.submit(FetchRequest(self.queue.popleft()))
            for result in self.fetcher.poll(0.01):
                if result.status == 200 and result.failure is None:
                    self.store(result.url, result.body, result.content_type, result.headers)
                quiet = time.monotonic()
            if len(self.rows) >= 96:
                self.flush()
        self.flush()

    def store(self, href: str, body: bytes, content_type: str, headers: dict[str, str]) -> None:
        page = parse_page(body, url=href, content_type=content_type, headers=headers)
        resolve = resolver(page.base_url)
        links = [url for link in page.links if isinstance(url := resolve(link.url), Url)]
        hashlib.sha256(body).digest()
        self.rows.append(
            (
                href, href, page.title, page.h1, page.meta_description, page.text, page.word_count, page.language,
                page.content_hash, json.dumps([url.href for url in links]), self.compress(body),
            )
        )  # fmt: skip
        self.pages += 1
        for url in links:
            self.take(url)

    def flush(self) -> None:
        if self.rows:
            with self.db, self.db.cursor() as cursor:
                execute_values(cursor, _INSERT, sorted(self.rows, key=lambda row: str(row[0])), page_size=10_000)
            self.rows = []


def _run(me: int, seed: str, database: str, other: Connection) -> None:
    Half(me, seed, database, other).work()


def main(seed: str, database: str) -> None:
    with psycopg2.connect(database) as db, db.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS bare_pages")
        cursor.execute(_TABLE)
    parse_page(_WARM, url=seed)
    one, two = multiprocessing.Pipe()
    halves = [multiprocessing.Process(target=_run, args=(me, seed, database, end)) for me, end in enumerate((one, two))]
    for half in halves:
        half.start()
    for half in halves:
        half.join()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
