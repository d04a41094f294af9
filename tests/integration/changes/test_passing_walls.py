"""A site that asks a third of all requests, whichever, about cookies, in place of the page."""

import re
from collections import Counter

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.handmade import Clock
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response, serving

NAMES = ("heron", "otter", "beaver", "marten", "badger", "lynx", "stoat", "vole", "toad", "newt")
ASKED = "<title>Il Parco</title><h1>La tua scelta</h1><p>Conserviamo dati sul tuo dispositivo. Sei d'accordo?</p>"


class Park:
    def __init__(self) -> None:
        self.asks = False
        self.texts = {name: f"The {name} lives by the river, and we count every {name} in spring." for name in NAMES}
        self._requests: Counter[str] = Counter()

    def respond(self, _: object, request: Request) -> bytes:
        name = request.path.strip("/")
        if name and name not in NAMES:
            return response(b"", "404 Not Found")
        turn = len(self._requests) + self._requests[name] * 5 + len(name)
        self._requests[name] += 1
        if self.asks and name and turn % 3 == 0:
            return response(ASKED.encode())
        menu = "".join(f'<li><a href="/{one}">{one}</a></li>' for one in NAMES)
        text = self.texts.get(name, "All animals of the valley, one by one, with where they live.")
        page = f"<title>{name or 'Home'} - Il Parco</title><ul>{menu}</ul><h1>{name}</h1><p>{text}</p>"
        return response(page.encode())


def told(crawler: Engine, crawl: CrawlJob) -> list[str]:
    return [line.added or "" for page in crawler.tools.changes.describe.texts(crawl, 50, 50) for line in page.lines]


@pytest.mark.slow
def test_it_is_no_edit_and_each_edit_behind_it_is_told_once(crawler: Engine) -> None:
    clock, park = Clock(crawler), Park()
    found: list[str] = []
    with serving(park.respond) as server:
        crawl = crawler.crawl(server.url("/"), use_sitemaps=False, learn_noise=True)
        park.asks = True
        for at in range(10):
            if 4 <= at < 7:
                for name in NAMES[at - 4 :: 3]:
                    park.texts[name] += f" Seen {at} times."
            clock.forward(hours=23)
            crawl = crawler.again(crawl)
            summary = crawl.change_summary
            assert summary is not None
            assert summary["removed_page_urls"] == summary["new_page_urls"] == []
            if at > 2:
                assert len(summary["changed_page_urls"]) == len(told(crawler, crawl))  # one line of each
                found += told(crawler, crawl)
    assert all(re.search(r"Seen \d times", line) for line in found)
    assert len(found) == len(NAMES)
