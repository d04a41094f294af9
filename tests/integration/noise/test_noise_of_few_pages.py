"""What varies on a few pages of a site is learned for them, and silences no other page."""

import itertools

import pytest

from tests.integration.handmade import page
from tests.integration.live_engine import Engine
from tests.integration.noise.test_noise_rules import WORDS, told
from tests.integration.raw_server import Request, response, serving

SAYINGS = (
    "Well begun is half done.",
    "Still waters run deep.",
    "Better late than never.",
    "Many hands, light work.",
    "All is well.",
)


@pytest.mark.slow
def test_pages_of_sayings_silence_no_article_in_later_crawls_either(crawler: Engine) -> None:
    """Later crawls fetch only those pages twice that changed: just the sayings."""
    turns, text = itertools.count(), dict[str, str]()
    sayings, articles = ("/w/quote", "/w/riddle"), [f"/w/article{n}" for n in range(6)]

    def respond(_: object, request: Request) -> bytes:
        if request.path == "/robots.txt":
            return response(b"", "404 Not Found")
        said = f"<p>{SAYINGS[next(turns) % 5]}</p>" if request.path in sayings else WORDS.format(request.path)
        body = f"<p>This is a page.</p><div id='content'>{text.get(request.path, said)}</div>"
        return response(page(*sayings, *articles, body=body).encode())

    with serving(respond) as server:
        crawl = crawler.crawl(server.url("/"), learn_noise=True, use_sitemaps=False)
        for _ in range(3):
            crawl = crawler.again(crawl)
        assert told(crawl) == []
        text["/w/article3"] = "<p>It was recalled.</p>"
        assert told(crawler.again(crawl)) == ["w/article3"]


@pytest.mark.slow
def test_a_poll_on_one_page_of_many_is_quiet_soon(crawler: Engine) -> None:
    """A share is learned only if two crawls in a row see that it moves by itself, and many other pages want a look."""
    turns = itertools.count()
    paths = ["/poll", *(f"/p{n}" for n in range(45))]

    def respond(_: object, request: Request) -> bytes:
        if request.path == "/robots.txt":
            return response(b"", "404 Not Found")
        turn = next(turns)
        poll = f"<ul class='poll'><li>Yes {20 + turn % 37} %</li></ul>" if request.path == "/poll" else ""
        body = f"{WORDS.format(request.path)}{poll}<div id='visits'>You are visitor {turn + 1000}</div>"
        return response(page(*paths, body=body).encode())

    with serving(respond) as server:
        crawl = crawler.crawl(server.url("/"), learn_noise=True, use_sitemaps=False)
        for _ in range(3):
            crawl = crawler.again(crawl)
        crawl = crawler.again(crawl)
        assert told(crawl) == []
        assert told(crawler.again(crawl)) == []
