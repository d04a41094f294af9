"""Crawls: start, watch and steer them, and take their results away."""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from uuid import UUID

from crawler.client.connection import Call, Connection, given, path
from crawler.client.crawl_values import Audit, Changes, Crawl, Event, Explanation, Progress, Rebuilt, Retried, Url
from crawler.client.files import write_whole
from crawler.client.live import watch
from crawler.client.value import Value, read


class _Started(Value):
    crawl_id: UUID


class _SourceStarted(Value):
    id: UUID


class Crawls:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def start(
        self,
        project_id: UUID | str,
        *,
        seed_url: str | None = None,
        urls: Sequence[str] | None = None,
        idempotency_key: str | None = None,
        **options: Any,
    ) -> UUID:
        """Start a crawl; with `urls` exactly those are fetched. Its id.

        Options are those of the project's settings, for this crawl alone. A project that is being crawled is a
        `Conflict` that names the running crawl.

        >>> crawl_id = client.crawls.start(project.id, max_pages=100, exclude_patterns=["/tag/"])
        """
        body = given(seed_url=seed_url, fetch_only_urls=list(urls) if urls is not None else None, **options)
        where = path("projects", project_id, "phases", "crawl", "run")
        return read(_Started, self._connection.start(where, body, idempotency_key)).crawl_id

    def start_source(
        self,
        project_id: UUID | str,
        url: str,
        *,
        max_depth: int = 2,
        max_pages: int = 50,
        include: str | None = None,
        exclude: str | None = None,
        refresh: bool = False,
        idempotency_key: str | None = None,
    ) -> UUID:
        """Start a crawl that begins at `url` and ingests its pages as documents.

        URLs that have a document are fetched again only with `refresh`.
        """
        body = given(
            url=url,
            max_depth=max_depth,
            max_pages=max_pages,
            url_include_pattern=include,
            url_exclude_pattern=exclude,
            refresh=refresh or None,
        )
        sent = self._connection.start(path("notebooks", project_id, "crawl"), body, idempotency_key)
        return read(_SourceStarted, sent).id

    def get(self, crawl_id: UUID | str) -> Crawl:
        return read(Crawl, self._connection.get(path("crawl", crawl_id)))

    def all(
        self, *, project_id: UUID | str | None = None, begins: str | None = None, everything: bool = False
    ) -> Iterator[Crawl]:
        """Crawls of all projects the key sees, newest first; `begins`: the beginning of their ids.

        Only with `everything` also batches of the queue, and single pages.

        >>> newest = next(client.crawls.all(), None)
        """
        chosen = given(project_id=project_id, begins=begins, everything=everything or None)
        return self._connection.listed("/crawls", Crawl, **chosen)

    def of(self, project_id: UUID | str) -> Iterator[Crawl]:
        """A project's crawls, newest first."""
        return self._connection.listed(path("notebooks", project_id, "crawl"), Crawl)

    def progress(self, project_id: UUID | str) -> Progress:
        """How far the project's latest crawl is."""
        return read(Progress, self._connection.get(path("projects", project_id, "phases", "crawl", "status")))

    def cancel(self, crawl_id: UUID | str) -> None:
        """End it now; its pages are kept. Again is no error; one that ended otherwise is a `Conflict`."""
        self._steer(crawl_id, "cancel")

    def pause(self, crawl_id: UUID | str) -> Crawl:
        """Start no request until it is resumed."""
        return read(Crawl, self._steer(crawl_id, "pause"))

    def resume(self, crawl_id: UUID | str) -> Crawl:
        return read(Crawl, self._steer(crawl_id, "resume"))

    def retry_failed(self, crawl_id: UUID | str) -> Retried:
        """Give failed URLs another chance. Sent once: a second may start a second crawl."""
        return read(Retried, self._connection.json(Call("POST", path("crawl", crawl_id, "retry-failed"))))

    def explain(self, crawl_id: UUID | str, url: str) -> Explanation:
        """Who linked a URL, by which rule it was (not) crawled, each attempt and the result.

        >>> print(client.crawls.explain(crawl_id, "https://example.org/old").verdict)
        """
        return read(Explanation, self._connection.get(path("crawl", crawl_id, "explain"), url=url))

    def audit(self, crawl_id: UUID | str) -> Audit:
        """Smallest gap, largest parallelism and violations by host."""
        return read(Audit, self._connection.get(path("crawl", crawl_id, "audit")))

    def rebuild_frontier(self, crawl_id: UUID | str) -> Rebuilt:
        """Fill a running crawl's queue anew from the service's database."""
        return read(Rebuilt, self._steer(crawl_id, "rebuild-frontier"))

    def watch(self, project_id: UUID | str, after: int | None = None) -> Iterator[Event | None]:
        """What happens in a project's crawls, as it happens; None first, and whenever nothing did for a moment.

        Events behind number `after` come first (0: all that are kept). Each comes once, however often the connection
        breaks; a project that is gone and a key that was revoked are errors.

        >>> for event in client.crawls.watch(project.id, after=0):
        ...     if event and event.type == "completed":
        ...         break
        """
        return watch(self._connection, path("projects", project_id, "ws"), after)

    def urls(
        self,
        crawl_id: UUID | str,
        *,
        fetch_state: str | None = None,
        status: str | None = None,
        reason: str | None = None,
        prefix: str | None = None,
    ) -> Iterator[Url]:
        """Every URL the crawl met, by URL.

        >>> broken = [url.url for url in client.crawls.urls(crawl_id, reason="not_found")]
        """
        chosen = given(fetch_state=fetch_state, status=status, reason=reason, prefix=prefix)
        return self._connection.listed(path("crawl", crawl_id, "urls"), Url, is_searched=True, **chosen)

    def changes(
        self,
        project_id: UUID | str,
        crawl_id: UUID | str,
        *,
        pages: bool = False,
        text: bool = False,
        text_pages: int | None = None,
        text_lines: int | None = None,
    ) -> Changes:
        """What the crawl found changed; with `pages` the changed pages' ids and versions, with `text` what changed,
        on 20 pages and in 10 lines each unless told otherwise."""
        where = path("projects", project_id, "crawl-history", crawl_id, "changes")
        include = "text" if text else "pages" if pages else None
        few = given(text_pages=text_pages, text_lines=text_lines) if text else {}
        return read(Changes, self._connection.get(where, include=include, **few))

    def export(self, crawl_id: UUID | str, format: str, file: str | os.PathLike[str]) -> Path:  # noqa: A002
        """The crawl's pages as they were then (jsonl, csv, markdown, warc), in a file that appears whole or not at all.

        >>> client.crawls.export(crawl_id, "jsonl", "pages.jsonl")
        """
        with self.export_pieces(crawl_id, format) as pieces:
            return write_whole(file, pieces)

    def export_pieces(self, crawl_id: UUID | str, format: str) -> AbstractContextManager[Iterator[bytes]]:  # noqa: A002
        """The same, piece by piece, for whoever has no file."""
        return self._connection.stream(path("crawl", crawl_id, "export"), format=format)

    def _steer(self, crawl_id: UUID | str, verb: str) -> Any:
        return self._connection.json(Call("POST", path("crawl", crawl_id, verb), repeatable=True))
