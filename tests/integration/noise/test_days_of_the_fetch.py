"""A studio whose timetable shows the days of this week, and whose booking page the days from today on."""

from collections.abc import Callable
from datetime import datetime, timedelta

from tests.integration.live_engine import Engine
from tests.integration.noise.test_several_crawls_a_day import clock_at, told
from tests.integration.raw_server import Request, response, serving

TEACHERS = ("anna", "ben", "carla", "dora", "emil", "fritz")


class Studio:
    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self.classes = ["Yoga", "Spin", "Pilates", "Box", "Swim", "Run", "Rest"]
        self.open_day = "Fri 4 June"

    def respond(self, _: object, request: Request) -> bytes:
        path = request.path.strip("/")
        pages = {"": self._home, "week": self._week, "book": self._book}
        if path in TEACHERS:
            main = f"<p>{path.title()} teaches in the morning, and {path} has done so for years.</p>"
        elif path in pages:
            main = pages[path]()
        else:
            return response(b"", "404 Not Found")
        title = path or "Studio"
        return response(f"<html><head><title>{title}</title></head><body><h1>{title}</h1>{main}</body></html>".encode())

    def _home(self) -> str:
        links = "".join(f'<li><a href="/{path}">{path}</a></li>' for path in ("week", "book", *TEACHERS))
        return f"<p>Open day: {self.open_day}</p><ul>{links}</ul>"

    def _week(self) -> str:
        monday = self._clock() - timedelta(days=self._clock().weekday())
        heads = "".join(f"<th>{monday + timedelta(days=day):%a %d %b}</th>" for day in range(7))
        cells = "".join(f"<td>{name}</td>" for name in self.classes)
        return f"<table class=week><tr><th>Time</th>{heads}</tr><tr><td>9:00</td>{cells}</tr></table>"

    def _book(self) -> str:
        days = (self._clock() + timedelta(days=day) for day in range(14))
        return (
            f"<form><select name=day>{''.join(f'<option>{day:%A, %d %B %Y}</option>' for day in days)}</select></form>"
        )


def test_days_that_move_on_with_the_fetch_are_quiet_and_all_beside_them_is_told(crawler: Engine) -> None:
    clock = clock_at(crawler, 10, 12)
    studio = Studio(clock)
    with serving(studio.respond) as server:
        crawl = crawler.crawl(server.url("/"), use_sitemaps=False)
        assert crawl.pages_crawled == 9
        found = []
        for days in (1, 2, 7, 1, 1, 1, 1):
            clock.forward(days=days, hours=1)
            crawl = crawler.again(crawl)
            found.append(told(crawl))
        assert found == [([], [])] * 7, "nobody edited anything"
        assert crawl.change_summary is not None
        assert any("days around the fetch" in page["rules"] for page in crawl.change_summary["quiet_page_urls"])

        clock.forward(days=7)
        studio.classes[2] = "Tai Chi"
        studio.open_day = "Fri 11 June"
        crawl = crawler.again(crawl)
        assert told(crawl) == (["", "week"], [])
        lines = [tuple(line)[:2] for page in crawler.tools.changes.digest(crawl.id) for line in page.lines]
        assert lines == [("Open day: Fri 4 June", "Open day: Fri 11 June"), ("Pilates", "Tai Chi")]
