"""Walls of sites that have one path for everything: their sign-in page is told from the others by its query alone."""

import socket
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.handmade import page
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response, serving

NAMES = [f"{kind}-{n}" for kind in ("boat", "rope", "crew") for n in range(5)]
FORM = '<form><p>Kennwort</p><input type="password" name="wort"></form>'


def text(about: str) -> str:
    return "".join(f"<p>The {n}. thing that is told of {about} is told by {about} alone</p>" for n in range(6))


class Board:
    """`/go.cgi?was=boat-1`; those in `closed` lead to `/go.cgi?was=zutritt`, with the way back or without."""

    def __init__(self, back: Callable[[str], str], links_to_form: bool) -> None:
        self._back = back
        self._links = ["/go.cgi?was=zutritt"] if links_to_form else []
        self.closed: list[str] = []
        self.moved: dict[str, str] = {}
        self.edited: set[str] = set()

    @property
    def names(self) -> list[str]:
        return [*(name for name in NAMES if name not in self.moved), *self.moved.values()]

    def __call__(self, _: socket.socket, request: Request) -> bytes:
        parts = urlsplit(request.path)
        name = dict(parse_qsl(parts.query)).get("was", "start" if parts.path == "/" else "")
        if name in self.closed:
            return leading(f"/go.cgi?was=zutritt{self._back(name)}", "302 Found")
        if name in self.moved:
            return leading(f"/go.cgi?was={self.moved[name]}", "301 Moved Permanently")
        links = [*(f"/go.cgi?was={other}" for other in NAMES), *self._links]
        if name == "zutritt":
            return response(page(*links, title="Zutritt", body=f"<h1>Zutritt</h1>{FORM}").encode())
        if name != "start" and name not in self.names:
            return response(b"no", "404 Not Found")
        was = next((old for old, new in self.moved.items() if new == name), name)
        more = "<p>News of today.</p>" if name in self.edited else ""
        return response(page(*links, title=f"All of {was}", body=text(was) + more).encode())


def leading(to: str, status: str) -> bytes:
    return response(b"", status, f"Location: {to}")


def told(crawl: CrawlJob) -> dict[str, Any]:
    assert crawl.change_summary is not None
    return crawl.change_summary


def ends(urls: list[str]) -> list[str]:
    return [url.rpartition("=")[2] for url in urls]


WAYS_BACK: dict[str, Callable[[str], str]] = {
    "none": lambda name: "",
    "its name": lambda name: f"&danach={name}",
    "its address": lambda name: "&danach=" + quote(f"/go.cgi?was={name}", safe=""),
    "a number": lambda name: f"&danach={sum(map(ord, name))}",
}


@pytest.mark.quick(1)
@pytest.mark.parametrize("links_to_form", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("way", WAYS_BACK)
def test_a_sign_in_page_that_shares_its_path_with_all_others_is_one(
    crawler: Engine, way: str, *, links_to_form: bool
) -> None:
    board = Board(WAYS_BACK[way], links_to_form)
    with serving(board) as server:
        crawl = crawler.crawl(server.url("/"), use_sitemaps=False)
        crawl = crawler.again(crawl)
        assert told(crawl)["summary"]["unchanged_pages"] == len(NAMES) + 1 + links_to_form
        board.closed = [name for name in NAMES if name.startswith("rope")]
        for edited in ("boat-1", "boat-2"):
            board.edited.add(edited)
            crawl = crawler.again(crawl)
            found = told(crawl)
            assert ends(found["changed_page_urls"]) == [edited]
            assert (found["new_page_urls"], found["removed_page_urls"], found["moved"]) == ([], [], [])
            (group,) = found["coverage"]["unseen"]
            assert (group["cause"], group["pages"]) == ("sign_in", 5)
            assert group["target"].endswith("/go.cgi?was=zutritt")
            assert found["coverage"]["failing"]
        board.closed = []
        board.edited.add("rope-3")
        crawl = crawler.again(crawl)
        assert ends(told(crawl)["changed_page_urls"]) == ["rope-3"]
        assert (told(crawl)["new_page_urls"], told(crawl)["removed_page_urls"]) == ([], [])
        assert not told(crawl)["coverage"]["failing"]


@pytest.mark.slow
def test_pages_that_move_on_such_a_site_are_not_behind_its_sign_in_page(crawler: Engine) -> None:
    board = Board(WAYS_BACK["its name"], links_to_form=True)
    with serving(board) as server:
        crawl = crawler.again(crawler.crawl(server.url("/"), use_sitemaps=False))
        board.closed = [name for name in NAMES if name.startswith("rope")]
        board.moved = {f"crew-{n}": f"team-{n}" for n in range(4)}
        crawl = crawler.again(crawl)
        assert sorted(ends([move["to"] for move in told(crawl)["moved"]])) == [f"team-{n}" for n in range(4)]
        assert sorted(ends(told(crawl)["not_compared_urls"])) == board.closed
