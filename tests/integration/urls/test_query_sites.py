"""Sites whose pages are told apart by query parameters: the first crawl finds out which, and the next keeps to it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

import pytest

from crawler.adapters.engine.query_survey import QuerySurvey
from crawler.adapters.judging.judge_pool import Limits
from crawler.bootstrap import judging
from crawler.domain.crawls.crawl import CrawlJob, EndReason
from crawler.domain.crawls.learned_params import ParamRole
from crawler.handlers.engine.fill_frontier import FillFrontier
from tests.integration.handmade import page
from tests.integration.live_engine import Engine
from tests.integration.threaded_server import ThreadedServer

Answer = Callable[[str, dict[str, str]], str | None]
FRAME = "<p>The society of the old harbour, founded long ago</p>"


class Down(Exception):
    """Raised by an answer: the server says 500."""


class Elsewhere(Exception):
    """Raised by an answer: the server leads on to this address (302)."""


@contextmanager
def served(answer: Answer) -> Iterator[tuple[str, list[str]]]:
    """A site that makes its pages of path and query; its address, and what was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            parts = urlsplit(self.path)
            location = ""
            try:
                html = answer(parts.path, dict(parse_qsl(parts.query, keep_blank_values=True)))
                status = 200 if html else 404
            except Down:
                html, status = None, 500
            except Elsewhere as target:
                html, status = None, 302
                location = str(target)
            body = (html or "no").encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/csv" if html and not html.startswith("<") else "text/html")
            self.send_header("Content-Length", str(len(body)))
            if location:
                self.send_header("Location", location)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - its name there

    server = ThreadedServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", asked
    finally:
        server.shutdown()
        server.server_close()


def text(about: str, words: int = 6) -> str:
    return FRAME + "".join(f"<p>The {n} of {about} is told here by {about} itself</p>" for n in range(words))


NAMES = ["start", "boats", "ropes", "sails", "tides", "fish", "crews"]


def wiki(path: str, query: dict[str, str]) -> str | None:
    """Every page links to itself as a source and a history."""
    if path not in ("/", "/notes.cgi"):
        return None
    topic = query.get("topic", "start")
    if topic not in NAMES:
        return page(title="No such page", body=FRAME + "<h1>This page does not exist</h1>")
    links = [f"/notes.cgi?topic={name}" for name in NAMES]
    views = [f"/notes.cgi?topic={topic}&show={view}" for view in ("source", "history")]
    show = f" {query['show']}" if "show" in query else ""
    return page(*links, *views, title=f"{topic}{show} - notes", body=text(f"{topic}{show}"))


def shop(path: str, query: dict[str, str]) -> str | None:
    products = [f"/item?product={n}" for n in range(6)]
    sorts = [f"/list?sort={by}" for by in ("price", "name", "age")]
    if path == "/":
        return page("/list", *sorts, title="Shop", body=FRAME)
    if path == "/list":
        lines = "".join(f"<p>Lamp number {n} of the harbour costs {n} crowns</p>" for n in range(6))
        return page(*products, *sorts, title="All lamps", body=FRAME + lines)
    number = query.get("product", "")
    more = [f"/item?product={number}&sort={by}" for by in ("price", "name")]
    return page(*more, title=f"Lamp {number}", body=text(f"lamp {number}")) if number.isdigit() else None


def forum(path: str, query: dict[str, str]) -> str | None:
    topics = [f"/read?t={n}" for n in range(4)]
    if path == "/":
        return page(*topics, title="Forum", body=FRAME)
    if path != "/read" or query.get("t") not in {str(n) for n in range(4)}:
        return None
    start = int(query.get("start", "0"))
    later = [f"/read?t={query['t']}&start={n}" for n in (10, 20)]
    return page(*later, title=f"Topic {query['t']}", body=text(f"topic {query['t']} from {start} on", 12))


def calendar(path: str, query: dict[str, str]) -> str | None:
    month = int(query.get("month", "202611"))
    year, number = divmod(month, 100)
    ahead = year * 100 + number + 1 if number < 12 else (year + 1) * 100 + 1
    back = year * 100 + number - 1 if number > 1 else (year - 1) * 100 + 12
    days = "".join(f"<td>{n}</td>" for n in range(1, 29))
    links = ("/", f"/plan?month={ahead}", f"/plan?month={back}")
    return page(*links, title=f"Month {month}", body=f"{FRAME}<table><tr>{days}</tr></table>")


def kept(crawler: Engine, crawl: CrawlJob) -> list[str]:
    """Addresses of the crawl's pages, without the host."""
    return sorted(
        "/" + key.split("/", 3)[3] for key, row in crawler.ledger(crawl).items() if row["fetch_state"] == "done"
    )


def roles(crawl: CrawlJob) -> dict[str, str]:
    return {f"{one.path}?{one.name}": one.role.value for one in crawl.config.learned_params}


def changed(crawl: CrawlJob) -> list[str]:
    """The ends of the addresses of the changed pages."""
    assert crawl.change_summary is not None
    return sorted(url.rpartition("/")[2] for url in crawl.change_summary["changed_page_urls"])


def told(crawl: CrawlJob) -> tuple[int, ...]:
    assert crawl.change_summary is not None
    counts = crawl.change_summary["summary"]
    return tuple(counts[f"{kind}_pages"] for kind in ("new", "changed", "removed"))


def test_pages_of_a_wiki_are_told_apart_and_its_views_are_left_out(crawler: Engine) -> None:
    with served(wiki) as (url, asked):
        first = crawler.crawl(url, use_sitemaps=False)
        pages = ["/", *(f"/notes.cgi?topic={name}" for name in sorted(NAMES))]
        assert kept(crawler, first) == pages
        assert roles(first) == {"/notes.cgi?topic": "kept", "/notes.cgi?show": "view"}
        assert len(asked) < 40, "trials are few"
        views = [row for row in crawler.ledger(first).values() if "show=" in row["url"]]
        assert views
        assert {(row["fetch_state"], row["reason"]) for row in views} == {("skipped", "trap")}
        second = crawler.again(first)
        assert kept(crawler, second) == pages
        assert told(second) == (0, 0, 0)
        assert roles(second) == roles(first)
        assert len([path for path in asked if "show=" in path]) <= 5, "what is known is not tried again"


@pytest.mark.slow
def test_products_are_pages_and_orders_of_a_list_are_none(crawler: Engine) -> None:
    with served(shop) as (url, _):
        first = crawler.crawl(url, use_sitemaps=False)
        assert kept(crawler, first) == ["/", *(f"/item?product={n}" for n in range(6)), "/list"]
        assert roles(first)["/item?product"] == "kept"
        assert roles(first)["/list?sort"] == "dropped"
        second = crawler.again(first)
        assert kept(crawler, second) == kept(crawler, first)
        assert told(second) == (0, 0, 0)


@pytest.mark.slow
def test_later_parts_of_a_topic_are_pages(crawler: Engine) -> None:
    with served(forum) as (url, _):
        first = crawler.crawl(url, use_sitemaps=False)
        assert len(kept(crawler, first)) == 1 + 4 * 3
        assert roles(first) == {"/read?t": "kept", "/read?start": "kept"}
        assert told(crawler.again(first)) == (0, 0, 0)


@pytest.mark.slow
def test_a_calendar_without_end_is_one_page(crawler: Engine) -> None:
    with served(calendar) as (url, asked):
        first = crawler.crawl(url, use_sitemaps=False)
        assert kept(crawler, first) == ["/", "/plan"]
        assert len(asked) < 12


@pytest.mark.slow
def test_what_people_set_is_not_surveyed(crawler: Engine) -> None:
    with served(wiki) as (url, asked):
        crawl = crawler.crawl(url, use_sitemaps=False, query_params="meaningful")
        assert kept(crawler, crawl) == ["/", "/notes.cgi"]
        named = crawler.crawl(url, use_sitemaps=False, query_params="meaningful", meaningful_params=["topic"])
        assert len(kept(crawler, named)) == 8
        assert roles(named) == {}
        assert not [path for path in asked if "show=" in path]


def test_a_seed_with_a_query_names_its_page(crawler: Engine) -> None:
    with served(wiki) as (url, _):
        first = crawler.crawl(f"{url}notes.cgi?topic=boats", use_sitemaps=False)
        assert "/notes.cgi?topic=boats" in kept(crawler, first)
        assert "/notes.cgi" not in kept(crawler, first)
        assert len(kept(crawler, first)) == len(NAMES)


@pytest.mark.slow
def test_trials_do_not_exceed_max_pages(crawler: Engine) -> None:
    with served(wiki) as (url, _):
        crawl = crawler.crawl(url, use_sitemaps=False, max_pages=3)
        assert crawl.pages_crawled == 3
        assert crawl.end_reason == "max_pages"


def behind_one_link(path: str, query: dict[str, str]) -> str | None:
    """All pages have one link to the minutes; only these link to each other."""
    menu = ("/", "/about", "/minutes.cgi?day=first")
    if path != "/minutes.cgi":
        return page(*menu, title=path, body=text(path)) if path in ("/", "/about") else None
    day = query.get("day", "first")
    days = ["first", "second", "third", "fourth"]
    links = [f"/minutes.cgi?day={one}" for one in days]
    return page(*menu, *links, title=f"Minutes {day}", body=text(day)) if day in days else None


@pytest.mark.slow
def test_pages_behind_a_single_link_are_found(crawler: Engine) -> None:
    with served(behind_one_link) as (url, asked):
        first = crawler.crawl(url, use_sitemaps=False)
        days = [f"/minutes.cgi?day={day}" for day in ("first", "fourth", "second", "third")]
        assert kept(crawler, first) == ["/", "/about", *days]
        assert roles(first) == {"/minutes.cgi?day": "kept"}
        assert len(asked) < 16
        second = crawler.again(first)
        assert kept(crawler, second) == kept(crawler, first)
        assert told(second) == (0, 0, 0)


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("more", [(), ("/contact?from=menu&lang=en", "/contact?from=foot&lang=en")])
def test_a_single_link_whose_page_leads_nowhere_is_one_page(crawler: Engine, more: tuple[str, ...]) -> None:
    def site(path: str, query: dict[str, str]) -> str | None:
        links = ("/", "/contact?from=menu", *(more if query else ()))
        return page(*links, title=path, body=text(path)) if path in ("/", "/contact") else None

    with served(site) as (url, asked):
        first = crawler.crawl(url, use_sitemaps=False)
        assert kept(crawler, first) == ["/", "/contact"]
        assert roles(first)["/contact?from"] == "dropped"
        assert first.stats.get("query_params", []) == [], "one address proves nothing, so nothing is said"
        assert len(asked) < 8
        assert told(crawler.again(first)) == (0, 0, 0)


@pytest.mark.slow
def test_pages_named_only_in_a_sitemap_are_told_apart(crawler: Engine) -> None:
    def site(path: str, query: dict[str, str]) -> str | None:
        if path == "/sitemap.xml":
            return "<urlset>" + "".join(f"<url><loc>{url}say?n={n}</loc></url>" for n in range(4)) + "</urlset>"
        if path == "/":
            return page(title="Home", body=FRAME)
        return page(title=f"Number {query['n']}", body=text(f"number {query['n']}")) if "n" in query else None

    with served(site) as (url, _):
        first = crawler.crawl(url)
        assert kept(crawler, first) == ["/", *(f"/say?n={n}" for n in range(4))]
        assert first.total_discovered == 5
        assert first.pages_skipped == 0
        assert told(crawler.again(first)) == (0, 0, 0)


@pytest.mark.slow
def test_a_survey_that_is_killed_goes_on(crawler: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """After each step was committed, before the frontier knew of it."""
    fill = FillFrontier.__call__
    killed: list[int] = []

    def dies_once_each(self: FillFrontier, crawl: CrawlJob, *, sitemaps: bool = True) -> None:
        learned = len(crawl.config.learned_params)
        if learned and learned not in killed:
            killed.append(learned)
            raise KeyboardInterrupt
        fill(self, crawl, sitemaps=sitemaps)

    with served(forum) as (url, _):
        crawl = crawler.start(crawler.project(url, use_sitemaps=False, delay_seconds=0))
        monkeypatch.setattr(FillFrontier, "__call__", dies_once_each)
        for _ in range(4):
            try:
                crawl = crawler.run(crawl)
            except KeyboardInterrupt:
                continue
            break
        assert killed == [1, 2]
        assert len(kept(crawler, crawl)) == 1 + 4 * 3


@pytest.mark.slow
def test_pages_that_are_told_apart_from_now_on_are_not_new(crawler: Engine) -> None:
    with served(wiki) as (url, _):
        first = crawler.crawl(url, use_sitemaps=False, query_params="meaningful")
        project = crawler.tools.store.get_project(first.project_id)
        second = crawler.run(crawler.start(project, config={"query_params": "auto", "delay_seconds": 0}))
        assert len(kept(crawler, second)) == 8
        assert told(second) == (0, 0, 0)


@pytest.mark.slow
def test_why_a_view_was_left_out_can_be_asked(crawler: Engine) -> None:
    with served(wiki) as (url, _):
        crawl = crawler.crawl(url, use_sitemaps=False)
        found = crawler.tools.crawls.explain_url(crawl.id, f"{url}notes.cgi?topic=boats&show=source")
        assert found.reason == "trap"
        assert found.ruling is not None
        assert "`show`" in (found.ruling.refused_by or "")
        words = crawl.stats["query_params"]
        assert words[0] == "`topic` in /notes.cgi tells pages apart, so it is kept (titles and texts differ)"
        early = crawler.crawl(url, use_sitemaps=False, max_pages=1)
        assert early.end_reason == "max_pages", "what was found was not fetched, and that is said"


def test_what_was_found_out_is_kept_by_one_process(crawler: Engine) -> None:
    """One that read the crawl before has seen too little: it may not say that the crawl is over."""
    with served(wiki) as (url, _):
        crawl = crawler.start(crawler.project(url, use_sitemaps=False, delay_seconds=0))
        crawler.shift()
        stale = crawler.tools.store.get_crawl(crawl.id)
        assert not crawler.tools.crawls.finish(crawl.id).status.is_over, "it tries a parameter first"
        assert QuerySurvey(crawler.tools.database).save(stale, stale.config) is None
        assert len(kept(crawler, crawler.run(crawl))) == 8


class Revisions:
    """Pages whose older revisions have addresses, too. What was changed lately is linked before the list of all."""

    def __init__(self) -> None:
        self.revisions = dict.fromkeys(NAMES, 2)
        self.has_list = True

    def __call__(self, path: str, query: dict[str, str]) -> str | None:
        if path == "/":
            return page("/lately", *(["/all"] if self.has_list else []), title="Pages", body=FRAME)
        if path == "/lately":
            last = {name: range(1, number + 1) for name, number in self.revisions.items()}
            links = [f"/page/{name}?rev={number}" for name, numbers in last.items() for number in numbers]
            return page(*links, title="Changed lately", body=FRAME)
        if path == "/all":
            return page(*(f"/page/{name}" for name in NAMES), title="All pages", body=FRAME)
        name = path.removeprefix("/page/")
        if name not in NAMES:
            return None
        newest = self.revisions[name]
        number = int(query.get("rev", newest))
        old = "" if "rev" not in query else f"<p>Revision {number} of this page</p>"
        return page(title=name, body=f"{old}{text(name)}<p>As it was written for the {number}. time</p>")


@pytest.mark.slow
def test_a_page_is_fetched_by_its_own_address_and_not_by_that_of_a_revision(crawler: Engine) -> None:
    site = Revisions()
    with served(site) as (url, _):
        first = crawler.crawl(url, use_sitemaps=False)
        assert "dropped" in roles(first).values()
        second = crawler.again(first)
        assert kept(crawler, second) == kept(crawler, first)
        assert not [row["url"] for row in crawler.ledger(second).values() if "rev=" in row["url"]]
        assert told(second) == (0, 0, 0)
        site.revisions["ropes"] = 3
        assert changed(crawler.again(second)) == ["lately", "ropes"]


@pytest.mark.slow
def test_where_only_revisions_are_linked_the_page_is_fetched_without_one(crawler: Engine) -> None:
    site = Revisions()
    site.has_list = False
    with served(site) as (url, _):
        first = crawler.crawl(url, use_sitemaps=False)
        second = crawler.again(first)
        assert told(second) == (0, 0, 0)
        assert not [row["url"] for row in crawler.ledger(second).values() if "rev=" in row["url"]]
        site.revisions["ropes"] = 10
        assert changed(crawler.again(second)) == ["lately", "ropes"]


@pytest.mark.slow
def test_a_page_that_a_calendar_shows_by_any_date_is_fetched_by_the_address_it_had(crawler: Engine) -> None:
    days = ["2026-11-02", "2026-11-03"]

    def diary(path: str, query: dict[str, str]) -> str | None:
        links = [f"/diary?day={day}" for day in days]
        if path == "/":
            return page(*links, title="Harbour", body=FRAME)
        if path != "/diary":
            return None
        later = f"/diary?day={query['day'][:-2]}{int(query['day'][-2:]) + 1:02}"
        return page(*links, later, title="Diary", body=text(f"the day {query['day']}"))

    with served(diary) as (url, _):
        first = crawler.crawl(url, use_sitemaps=False)
        assert kept(crawler, first) == ["/", "/diary"]
        days.insert(0, "2026-11-01")
        second = crawler.again(first)
        assert [row["url"] for key, row in crawler.ledger(second).items() if "diary" in key] == [
            f"{url}diary?day=2026-11-02"
        ]


SHELVES = [
    "oak",
    "ash",
    "elm",
    "yew",
    "fir",
    "pine",
    "lime",
    "plum",
    "pear",
    "rowan",
    "larch",
    "beech",
    "maple",
    "alder",
]


@pytest.mark.slow
def test_a_parameter_that_names_pages_at_several_paths_does_so_at_all_of_them(crawler: Engine) -> None:
    """There are more paths than one crawl tries: what was not tried is not told as new one crawl later."""

    def library(path: str, query: dict[str, str]) -> str | None:
        shelf, volume = path.strip("/"), query.get("volume", "")
        if not shelf:
            return page(*(f"/{name}" for name in SHELVES), title="Library", body=FRAME)
        if shelf not in SHELVES or volume not in ("", "1", "2"):
            return None
        links = [f"/{shelf}?volume={n}" for n in (1, 2)]
        return page(*links, title=f"{shelf} {volume}", body=text(f"{shelf} {volume or 'all'}"))

    with served(library) as (url, asked):
        first = crawler.crawl(url, use_sitemaps=False)
        assert len(kept(crawler, first)) == 1 + 3 * len(SHELVES)
        assert told(crawler.again(first)) == (0, 0, 0)
        assert len(asked) < 3 * 3 * len(SHELVES)


@pytest.mark.slow
def test_trials_that_take_too_long_to_read_hold_up_nobody(crawler: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The coordinator, which starts everybody's crawls, waits for their reading."""
    monkeypatch.setattr(judging, "SURVEY", Limits(page_seconds=0.0005, total_seconds=0.001))
    with served(wiki) as (url, asked):
        crawl = crawler.crawl(url)
    assert crawl.end_reason is EndReason.EXHAUSTED
    assert any("?" in path for path in asked), "they were tried"
    assert not [one for one in crawl.config.learned_params if one.role is ParamRole.TRIED]
