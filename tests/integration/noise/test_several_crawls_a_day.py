"""A small wiki with a clock to the minute, stamps with names, tokens and revision links, crawled every few hours."""

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import count

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.handmade import Clock
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response, serving

NAMES = ("heron", "otter", "beaver", "marten", "badger", "lynx", "stoat", "vole")
ZONE = timedelta(hours=5, minutes=30)
GAPS = ({"hours": 2, "minutes": 7}, {"minutes": 41}, {"hours": 3, "minutes": 13}, {"hours": 5}, {"hours": 1})
"""Between six crawls from 18:33 on, in the zone of the wiki: its midnight is among them."""


class Wiki:
    """Its pages know who edited them last, and when; every page is made anew for each request."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._requests = count(1)
        self.revision = 40
        began = self.now - timedelta(days=30)
        self.texts = {name: f"The {name} lives by the river, and we count every {name} in spring." for name in NAMES}
        self.edited = {name: (began, "ida", 10 + n) for n, name in enumerate(NAMES)}

    @property
    def now(self) -> datetime:
        return self._clock() + ZONE

    def edit(self, name: str, text: str, by: str) -> None:
        self.revision += 1
        self.texts[name], self.edited[name] = text, (self.now, by, self.revision)

    def respond(self, _: object, request: Request) -> bytes:
        path = request.path.partition("?")[0].strip("/")
        if path and path not in NAMES:
            return response(b"", "404 Not Found")
        body = "".join(f'<li><a href="/{name}">{name}</a></li>' for name in NAMES)
        main = f"<h1>Our valley</h1><p>All animals of the valley, one by one.</p><ul>{body}</ul>"
        return response(
            self._page(main if not path else self._article(path, f"http://{request.headers['host']}/{path}")).encode()
        )

    def _article(self, name: str, address: str) -> str:
        at, by, revision = self.edited[name]
        return (
            f"<h1>{name}</h1><p>{self.texts[name]}</p>"
            f"<p>Quote as: {name}, Valley Wiki, read {self.now:%H:%M, %d %B %Y}.</p>"
            f"<p>{name} (abgerufen am {self.now:%d %B %Y})</p>"
            f"<p>Permanent link: {address}?old={revision}</p>"
            f'<p class="meta">/{name} · Zuletzt geändert: {at:%d.%m.%Y %H:%M} von {by}'
            f' · <a href="/{name}?old={revision}" rel="nofollow">alt</a></p>'
        )

    def _page(self, main: str) -> str:
        token = hashlib.md5(str(next(self._requests)).encode(), usedforsecurity=False).hexdigest()
        foot = f"<footer><p>Hier ist es {self.now:%d.%m.%Y %H:%M}</p><p>Request ID: {token}</p></footer>"
        form = f"<form action='/x'><input name='t' value='{token}'></form>"
        return f"<!doctype html><html><head><title>Valley</title></head><body>{main}{form}{foot}</body></html>"


def told(crawl: CrawlJob) -> tuple[list[str], list[str]]:
    summary = crawl.change_summary
    assert summary is not None
    pages = [url.rpartition("/")[2] for url in summary["changed_page_urls"]]
    return pages, [change["added"] for change in summary["template_changes"]]


def clock_at(crawler: Engine, hour: int, minute: int) -> Clock:
    """The engine's clock, at this time of tomorrow (UTC)."""
    clock = Clock(crawler)
    begin = (clock() + timedelta(days=1)).replace(hour=hour, minute=minute, second=2)
    clock.forward(seconds=(begin - clock()).total_seconds())
    return clock


@pytest.mark.slow
def test_crawls_at_round_times_are_quiet_from_the_third_on(crawler: Engine) -> None:
    """Then a clock reads like an appointment: that it ran before, too, tells it from one."""
    clock = clock_at(crawler, 9, 0)
    with serving(Wiki(clock).respond) as server:
        crawl = crawler.crawl(server.url("/"), use_sitemaps=False)
        found = []
        for _ in range(4):
            clock.forward(hours=3)
            crawl = crawler.again(crawl)
            found.append(told(crawl))
    assert found[1:] == [([], [])] * 3


def test_a_wiki_with_clocks_and_stamps_is_quiet_until_somebody_edits_it(crawler: Engine) -> None:
    clock = clock_at(crawler, 13, 3)
    wiki = Wiki(clock)
    with serving(wiki.respond) as server:
        crawl = crawler.crawl(server.url("/"), use_sitemaps=False)
        assert crawl.pages_crawled == 9
        found = []
        for gap in GAPS:
            clock.forward(**gap)
            crawl = crawler.again(crawl)
            found.append(told(crawl))
        assert found == [([], [])] * 5, "nobody edited anything"

        clock.forward(hours=2, minutes=11)
        wiki.edit("otter", "The otter moved to the lake, and we count every otter in spring.", "ben")
        clock.forward(minutes=38)
        crawl = crawler.again(crawl)
        assert told(crawl) == (["otter"], [])
        clock.forward(hours=1, minutes=4)
        crawl = crawler.again(crawl)
        assert told(crawl) == ([], []), "once"

        text = wiki.texts["lynx"]
        clock.forward(minutes=52)
        wiki.edit("lynx", "The lynx was never here.", "eve")
        clock.forward(minutes=3)
        wiki.edit("lynx", text, "ida")
        clock.forward(hours=1, minutes=17)
        crawl = crawler.again(crawl)
        assert told(crawl) == ([], []), "what was taken back before anybody looked is no change"

        wiki.edit("vole", wiki.texts["vole"], "ben")
        clock.forward(minutes=23)
        crawl = crawler.again(crawl)
        assert told(crawl) == ([], []), "a new stamp alone is none"


@pytest.mark.slow
def test_a_clock_in_a_sentence_is_known_again_after_an_edit_and_after_a_wall(crawler: Engine) -> None:
    """On one page only, to the minute: that it ran before is all that tells it from an appointment."""
    clock = clock_at(crawler, 6, 2)
    boats, closed = ["heron"], False

    def respond(_: object, request: Request) -> bytes:
        path = request.path.strip("/")
        if closed:
            return response(b"<title>Closed</title><h1>Closed</h1><p>We paint the pier. Come back on another day.</p>")
        listed = "".join(f"<li>{name} came in</li>" for name in boats)
        now = f"<p>Seen at {clock():%H:%M} from the pier. There are {len(boats)} boats.</p><ul>{listed}</ul>"
        links = "".join(f'<a href="/{name}">{name}</a> ' for name in NAMES)
        main = now if path == "lynx" else f"<p>All that we know about the {path or 'valley'} and who saw it there.</p>"
        return response(f"<title>{path}</title><h1>{path}</h1>{main}<footer>{links}</footer>".encode())

    with serving(respond) as server:
        crawl = crawler.crawl(server.url("/"), use_sitemaps=False)
        clock.forward(hours=2, minutes=13)
        crawl = crawler.again(crawl)  # nobody can know yet that it is a clock
        clock.forward(hours=1, minutes=47)
        boats.append("tern")
        crawl = crawler.again(crawl)
        assert told(crawl) == (["lynx"], [])
        clock.forward(hours=3, minutes=11)
        crawl = crawler.again(crawl)
        assert told(crawl) == ([], []), "the boat was told, and the clock is known by what it said before"
        clock.forward(hours=1, minutes=5)
        closed = True
        crawl = crawler.again(crawl)
        assert told(crawl) == ([], [])
        clock.forward(hours=2, minutes=21)
        closed = False
        crawl = crawler.again(crawl)
        assert told(crawl) == ([], []), "open again, and nobody edited anything"


def test_a_clock_that_other_pages_showed_to_be_one_is_not_shown_beside_an_edit(crawler: Engine) -> None:
    """All pages together tell that it is a clock; what is shown of one page is read again later, without the others."""
    clock = clock_at(crawler, 6, 2)
    prices = dict.fromkeys(NAMES, 40)

    def respond(_: object, request: Request) -> bytes:
        path = request.path.strip("/")
        hours, minutes = divmod(24 * 60 - clock().hour * 60 - clock().minute, 60)
        offer = f"<p>Order within {hours} h {minutes} min</p><p>{prices.get(path)} crowns</p>" if path else ""
        links = "".join(f'<a href="/{name}">{name}</a> ' for name in NAMES)
        return response(f"<title>{path}</title><h1>A {path} of wood</h1>{offer}<footer>{links}</footer>".encode())

    with serving(respond) as server:
        crawl = crawler.crawl(server.url("/"), use_sitemaps=False)
        for _ in range(2):
            clock.forward(hours=2, minutes=13)
            crawl = crawler.again(crawl)
        assert told(crawl) == ([], [])
        prices["otter"] = 45
        clock.forward(hours=3, minutes=21)
        crawl = crawler.again(crawl)
        assert told(crawl) == (["otter"], [])
        (text,) = crawler.tools.changes.describe.texts(crawl, 5, 5)
        assert [(line.removed, line.added) for line in text.lines] == [("40 crowns", "45 crowns")]
