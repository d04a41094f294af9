"""What was told of the template while a section was closed is not told again of its pages when it opens."""

from collections.abc import Callable
from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

OPEN = [f"/p{n}" for n in range(6)]
CLOSED = [f"/staff/{n}" for n in range(3)]
TEXT = "<p>This is all about {0}: who makes it, how long that takes, and what {0} costs when it is new.</p>"
Close = Callable[[Site, str], None]


def lay_pages(site: Site, foot: str, edited: str = "") -> None:
    lay(site, {"/": page(*OPEN, *CLOSED, title="Home", body=TEXT.format("home") + f"<footer>{foot}</footer>")})
    for path in (*OPEN, *CLOSED):
        news = "<p>News of today.</p>" if path == edited else ""
        lay(site, {path: page(title=path, body=TEXT.format(path) + news + f"<footer>{foot}</footer>")})


def refuse(site: Site, path: str) -> None:
    site.set_fault(path, status=403)


def ask_to_sign_in(site: Site, path: str) -> None:
    lay(site, {"/login": page(title="Sign in", body="<form><input type=password></form>")})
    site.set_fault(path, redirect="/login", status=302)


def told(crawl: CrawlJob) -> dict[str, Any]:
    assert crawl.change_summary is not None
    return crawl.change_summary


def paths(crawl: CrawlJob) -> list[str]:
    return ["/" + url.split("/", 3)[3] for url in told(crawl)["changed_page_urls"]]


@pytest.mark.slow
@pytest.mark.parametrize("close", [refuse, ask_to_sign_in])
def test_edits_of_the_template_are_not_told_again_when_a_section_opens(
    crawler: Engine, site: Site, close: Close
) -> None:
    lay_pages(site, "Call 1000")
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    for path in CLOSED:
        close(site, path)
    for foot in ("Call 1000", "Call 2000", "Call us at 2000", "Call us at 2000"):
        lay_pages(site, foot)
        crawl = crawler.again(crawl)
        assert paths(crawl) == []
    site.mend()
    lay_pages(site, "Call us at 2000", edited=CLOSED[1])
    crawl = crawler.again(crawl)
    assert (paths(crawl), told(crawl)["template_changes"]) == ([CLOSED[1]], [])
    (digest,) = crawler.tools.changes.digest(crawl.id)
    assert (digest.removed, digest.added) == ((), ("News of today.",))
    # Once the section is open, the same words on one of its pages are news.
    lay_pages(site, "Call us at 2000", edited=CLOSED[1])
    lay(site, {CLOSED[0]: page(title=CLOSED[0], body=TEXT.format(CLOSED[0]) + "<footer>Call 1000</footer>")})
    crawl = crawler.again(crawl)
    lay_pages(site, "Call us at 2000", edited=CLOSED[1])
    assert (paths(crawl), paths(crawler.again(crawl))) == ([CLOSED[0]], [CLOSED[0]])
