"""A site with good pages and whatever else a test wants sent, byte by byte; what a crawl makes of it."""

import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus
from tests.integration.handmade import page
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, Server, response, serving

Answers = Mapping[str, bytes | Callable[[socket.socket], None]]
"""Path → what is sent, or who sends it; the connection is closed afterwards."""
NEIGHBOURS = ("/before", "/after")


class Outcome(NamedTuple):
    crawl: CrawlJob
    rows: dict[str, dict[str, Any]]
    """The ledger by path, without the good pages."""
    server: Server

    @property
    def ends(self) -> dict[str, str]:
        """Path → the reason, else "done"."""
        return {path: row["reason"] or row["fetch_state"] for path, row in self.rows.items()}


@contextmanager
def hostile_site(answers: Answers) -> Iterator[Server]:
    """The homepage links to all of these, with a good page before and after them."""
    home = page(NEIGHBOURS[0], *answers, NEIGHBOURS[1]).encode()

    def respond(stream: socket.socket, request: Request) -> bytes | None:
        answer = answers.get(request.path)
        if callable(answer):
            answer(stream)
        elif answer is not None:
            stream.sendall(answer)
        if answer is not None:
            return None
        if request.path in NEIGHBOURS:
            return response(page(title=request.path).encode())
        return response(home) if request.path == "/" else response(b"", "404 Not Found")

    with serving(respond) as server:
        yield server


def crawl_among_good_pages(crawler: Engine, answers: Answers, **config: Any) -> Outcome:
    """A whole crawl. That the good pages are stored and each failure says what happened is seen to here."""
    with hostile_site(answers) as server:
        crawl = crawler.crawl(server.url("/"), **config)
    assert crawl.status is CrawlStatus.COMPLETED
    rows = crawler.paths(crawl)
    for path in ("/", *NEIGHBOURS):
        assert rows.pop(path)["fetch_state"] == "done", path
    for path in NEIGHBOURS:
        assert crawler.page(crawl, path)["title"] == path, "the neighbour's own words, nobody else's"
    for path, row in rows.items():
        assert row["fetch_state"] != "failed" or row["error_message"], f"{path} does not say what happened"
    return Outcome(crawl, rows, server)
