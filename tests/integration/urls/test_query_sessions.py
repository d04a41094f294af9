"""Sites that write a new session id into every link: a crawl of them ends, and asks for each thing once."""

from itertools import count

import pytest

from crawler.domain.crawls.crawl import CrawlStatus, EndReason
from crawler.handlers.crawls.finish_crawl import STUCK
from crawler.handlers.crawls.plan_probes import PlanProbes
from tests.integration.handmade import page
from tests.integration.live_engine import Engine
from tests.integration.urls.test_query_sites import Elsewhere, changed, kept, served, told

FRAME = "<p>The library of the old harbour, open since long ago</p>"


class Library:
    """Two pages of a list, the same list in another order, and books. Each answer has its own session id."""

    def __init__(self, orders: tuple[str, ...] = ("old",)) -> None:
        self._sessions = count(0xA11CE)
        self._orders = orders

    def __call__(self, path: str, query: dict[str, str]) -> str | None:
        session = f"{next(self._sessions) * 7919:08x}"
        if path in {"/", "/shelf"}:
            at = int(query.get("page", "1"))
            books = list(range(5 * at - 5, 5 * at))
            books = books[::-1] if query.get("sort") == "old" else books
            links = [f"/book/{n}?sid={session}" for n in books]
            links += [f"/shelf?page={n}&sid={session}" for n in (1, 2)]
            links += [f"/shelf?sort={order}&sid={session}" for order in self._orders]
            return page(*links, title=f"Shelf {at}", body=FRAME)
        if path.startswith("/book/"):
            told = f"<p>All that is told in {path} of the ships, their masters and their cargo</p>"
            return page(f"/shelf?sid={session}", title=f"Book {path}", body=FRAME + told)
        return None


def test_a_sort_link_with_a_session_id_does_not_keep_a_crawl_from_its_end(crawler: Engine) -> None:
    with served(Library()) as (url, asked):
        crawl = crawler.crawl(url, seconds=15)
        assert (crawl.status, crawl.end_reason) == (CrawlStatus.COMPLETED, EndReason.EXHAUSTED)
        assert {f"/book/{n}" for n in range(10)} <= set(kept(crawler, crawl))
        assert asked.count("/sitemap.xml") == 1


@pytest.mark.slow
def test_several_orders_with_session_ids_end_too_and_the_next_crawl_as_well(crawler: Engine) -> None:
    with served(Library(("old", "name", "year"))) as (url, asked):
        first = crawler.crawl(url, seconds=15)
        asked.clear()
        second = crawler.again(first, seconds=15)
        assert second.end_reason is EndReason.EXHAUSTED
        assert kept(crawler, second) == kept(crawler, first)
        assert asked.count("/sitemap.xml") == 1


def test_pages_named_beside_a_session_id_are_all_found(crawler: Engine) -> None:
    """Of one page there are more addresses than are tried; those of other pages are tried all the same."""
    sessions = count(0xB0A7)

    def site(path: str, query: dict[str, str]) -> str | None:
        session = f"{next(sessions) * 7919:08x}"
        boat = int(query.get("boat", "0"))
        links = [f"/boats?boat={n}&sid={session}" for n in range(1, 6)]
        if path == "/":
            return page(*links, title="Harbour", body=FRAME)
        words = "".join(f"<p>What the log of boat {boat} tells of its day {n} at sea</p>" for n in range(5))
        return page(*links, title=f"Boat {boat}", body=FRAME + words) if path == "/boats" and boat else None

    with served(site) as (url, _):
        crawl = crawler.crawl(url, seconds=15)
        assert kept(crawler, crawl) == ["/", *(f"/boats?boat={n}" for n in range(1, 6))]


@pytest.mark.slow
def test_a_crawl_that_only_plans_ends_and_says_so(crawler: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever mistake there may be in what finishes a crawl, it does not go on for ever."""
    monkeypatch.setattr(PlanProbes, "__call__", lambda *_, **__: True)
    with served(Library()) as (url, _):
        crawl = crawler.crawl(url, seconds=25)
        assert (crawl.status, crawl.end_reason) == (CrawlStatus.COMPLETED, EndReason.EXHAUSTED)
        assert crawl.error_message == STUCK
        assert {f"/book/{n}" for n in range(10)} <= set(kept(crawler, crawl))


class Cookieless:
    """Each page leads on to itself behind a session id in the path, a new one each time. Links there are relative."""

    def __init__(self) -> None:
        self._sessions = count(0xC0FFEE)
        self.price = 4

    def __call__(self, path: str, query: dict[str, str]) -> str | None:
        if path == "/":
            return page(*(f"/boats/{n}.aspx" for n in range(4)), title="Harbour", body=FRAME)
        if not path.startswith("/(X(1)S("):
            raise Elsewhere(f"/(X(1)S({next(self._sessions) * 7919:024x})){path}?AspxAutoDetectCookieSupport=1")
        name = path.rpartition("/")[2]
        said = f"<p>The boat {name} may be hired for {self.price} crowns an hour</p>"
        return page("0.aspx", "1.aspx", "extra.aspx", title=f"Boat {name}", body=FRAME + said)


def test_a_session_id_in_the_path_makes_no_other_page(crawler: Engine) -> None:
    site = Cookieless()
    with served(site) as (url, _):
        first = crawler.crawl(url, use_sitemaps=False)
        boats = sorted([*(f"/boats/{n}.aspx" for n in range(4)), "/boats/extra.aspx"])
        assert kept(crawler, first) == ["/", *boats]
        why = crawler.tools.crawls.explain_url(first.id, f"{url}boats/1.aspx")
        assert len(why.attempts) == 2, "the address, and where it leads"
        second = crawler.again(first)
        assert told(second) == (0, 0, 0)
        site.price = 5
        third = crawler.again(second)
        assert told(third)[0] == 0
        assert third.change_summary is not None
        assert third.change_summary["template_changes"] or changed(third)
