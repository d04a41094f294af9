"""Validators that cover only a part of the page: the rest must not change unseen behind a 304."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler
from pathlib import Path
from uuid import UUID

import pytest
from sqlalchemy import text

from crawler.domain.engine.conditional import ASKED_ANEW, is_asked_anew
from tests.integration.changes.test_known_pages import paths, told
from tests.integration.handmade import page
from tests.integration.live_engine import Engine
from tests.integration.threaded_server import ThreadedServer
from tests.site.client import Site

ARTICLES = [f"/article-{number}" for number in range(12)]


def publish(site: Site, menu: str, *, title: str = "Home", edited: str = "") -> None:
    """Pages whose ETag stands for the article alone, not for the menu around it."""
    site.edit("/", html=page(*ARTICLES, title=title, body=f"<nav><p>{menu}</p></nav>"), etag='"home"')
    for path in ARTICLES:
        words = f"<nav><p>{menu}</p></nav><p>The article at {path}{edited if path == ARTICLES[3] else ''}.</p>"
        tag = f'"{path}{edited if path == ARTICLES[3] else ""}"'
        site.edit(path, html=page(title=path, body=words), etag=tag)


def statuses(site: Site, since: int) -> list[int]:
    return [request.status for request in site.requests()[since:] if request.path in {"/", *ARTICLES}]


@pytest.mark.slow
def test_an_edit_of_the_frame_is_told_by_the_next_crawl_although_every_validator_stands_still(
    crawler: Engine, site: Site
) -> None:
    publish(site, "Opening hours: nine to five")
    first = crawler.crawl(site.url(), use_sitemaps=False)
    publish(site, "Opening hours: ten to four")
    second = crawler.again(first)
    (change,) = told(second)["template_changes"]
    assert change["pages"] == len(ARTICLES) + 1
    publish(site, "Opening hours: ten to four", edited=" was edited")
    third = crawler.again(second)
    assert paths(site, told(third)["changed_page_urls"]) == [ARTICLES[3]]
    assert told(third)["template_changes"] == [], "told once"


@pytest.mark.slow
def test_validators_are_believed_again_when_they_prove_right(crawler: Engine, site: Site) -> None:
    publish(site, "One")
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    publish(site, "Two")
    crawl = crawler.again(crawl)
    since = len(site.requests())
    crawl = crawler.again(crawl)
    assert set(statuses(site, since)) == {200}, "the crawl after one that was deceived asks for everything, too"
    since = len(site.requests())
    crawl = crawler.again(crawl)
    unconditional = 1 + sum(is_asked_anew(site.url(path), crawl.id) for path in ARTICLES)
    assert sorted(statuses(site, since)) == [200] * unconditional + [304] * (len(ARTICLES) + 1 - unconditional)


@pytest.mark.slow
def test_each_crawl_asks_for_other_pages_without_conditions() -> None:
    urls = [f"https://h.test/{number}" for number in range(2000)]
    chosen = [{url for url in urls if is_asked_anew(url, UUID(int=crawl))} for crawl in range(60)]
    assert all(0.5 < len(some) * ASKED_ANEW / len(urls) < 1.5 for some in chosen)
    assert len(set().union(*chosen)) > 0.9 * len(urls), "sooner or later all of them"


@contextmanager
def folder_served(folder: Path) -> Iterator[str]:
    """Files with a date and no ETag. As many servers do, it calls the same what is not younger than that date."""
    with ThreadedServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("later", [0, -86_400], ids=["the same date", "an older date"])
def test_an_edit_that_comes_with_no_younger_date_is_told_by_the_next_crawl(
    crawler: Engine, tmp_path: Path, later: int
) -> None:
    """As when a backup is put back, or a site is built anew with the dates of its sources."""
    rooms = [f"room-{number}.html" for number in range(6)]
    (tmp_path / "index.html").write_text(page(*rooms, title="Rooms"))
    for room in rooms:
        (tmp_path / room).write_text(page(title=room, body=f"<p>The {room} has a table and 12 chairs.</p>"))
    with folder_served(tmp_path) as url:
        first = crawler.crawl(url, use_sitemaps=False)
        for room in rooms[1:4]:
            file = tmp_path / room
            date = file.stat().st_mtime + later
            file.write_text(file.read_text().replace("12 chairs", "14 chairs"))
            os.utime(file, (date, date))
        second = crawler.again(first)
    assert sorted(told(second)["changed_page_urls"]) == [url + room for room in rooms[1:4]]


@pytest.mark.slow
def test_pages_that_no_whole_crawl_has_looked_at_for_missing_parts_are_asked_for_without_conditions(
    crawler: Engine, site: Site
) -> None:
    """As after an upgrade, also if the first crawl after it ended early: it has not looked at all pages."""
    publish(site, "One")
    first = crawler.crawl(site.url(), use_sitemaps=False, render="auto")
    with crawler.tools.database.begin() as db:
        db.execute(text("UPDATE crawl_jobs SET scope = scope - 'looked' WHERE id = :id"), {"id": first.id})
    since = len(site.requests())
    second = crawler.again(first)
    assert set(statuses(site, since)) == {200}
    with crawler.tools.database.begin() as db:
        db.execute(text("UPDATE crawl_jobs SET end_reason = 'max_duration' WHERE id = :id"), {"id": second.id})
    since = len(site.requests())
    third = crawler.again(second)
    assert set(statuses(site, since)) == {200}
    since = len(site.requests())
    crawler.again(third)
    assert 304 in statuses(site, since)
