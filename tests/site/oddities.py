"""Odd answers that are always there, below `/x/`, so that a link or a seed is enough to meet one.

`/x` links to all of them that a crawl can get through. Each function takes a `Visit` and answers it.
"""

import json
from collections.abc import Callable
from html import escape
from typing import NamedTuple
from urllib.parse import parse_qsl

from tests.site import bodies, sitemaps, traps, wire
from tests.site.answers import Answer, Request
from tests.site.pages import document

PREFIX = "/x"


class Visit(NamedTuple):
    request: Request
    rest: list[str]
    """The path's parts after the oddity's name."""
    query: dict[str, str]
    origin: str

    def number(self, default: float) -> float:
        """The first part as a number."""
        return float(self.rest[0]) if self.rest else default

    def part(self, place: int, default: str) -> str:
        return self.rest[place] if len(self.rest) > place else default


def answer(request: Request, origin: str) -> Answer | None:
    path, _, query = request.target.partition("?")
    if path.rstrip("/") == PREFIX:
        return _overview(origin)
    if not path.startswith(f"{PREFIX}/"):
        return None
    name, *rest = path.removeprefix(f"{PREFIX}/").split("/")
    oddity = ODDITIES.get(name)
    visit = Visit(request, [part for part in rest if part], dict(parse_qsl(query)), origin)
    return oddity(visit) if oddity else None


def _overview(origin: str) -> Answer:
    items = "".join(f'<li><a href="{escape(origin + link)}">{escape(link)}</a></li>' for link in SAMPLES)
    return Answer.html(document("Odd pages", f"<h1>Odd pages</h1><ul>{items}</ul>"))


def _redirect_chain(visit: Visit) -> Answer:
    left = int(visit.number(1))
    if left <= 0:
        return Answer.html(document("The end of a chain", "<h1>The end of a chain</h1>"))
    return Answer.redirect(f"{PREFIX}/chain/{left - 1}", int(visit.query.get("status", 302)))


def _redirect_loop(visit: Visit) -> Answer:
    return Answer.redirect(f"{PREFIX}/loop/{'b' if visit.part(0, 'a') == 'a' else 'a'}")


def _redirect_counting(visit: Visit) -> Answer:
    return Answer.redirect(f"{PREFIX}/counting/{int(visit.number(0)) + 1}")


def _redirect_to(visit: Visit) -> Answer:
    return Answer.redirect(visit.query["url"], int(visit.query.get("status", 302)))


def _echo(visit: Visit) -> Answer:
    """The request's headers as the site saw them, as JSON in a page."""
    seen = escape(json.dumps(visit.request.headers))
    return Answer.html(document("Echo", f"<h1>Echo</h1><pre>{seen}</pre>"))


def _sitemap(visit: Visit) -> Answer:
    kinds: dict[str, Callable[[], Answer]] = {
        "laughs.xml": lambda: sitemaps.laughs(visit.origin),
        "entity.xml": lambda: sitemaps.outside_entity(visit.origin),
        "cycle.xml": lambda: sitemaps.index([f"{visit.origin}{PREFIX}/sitemap/cycle.xml"]),
        "bomb.xml.gz": lambda: sitemaps.bomb(visit.origin, 100),
        "huge.xml": lambda: sitemaps.urlset([f"{visit.origin}/many/{n}" for n in range(60_000)]),
        "broken.xml": lambda: Answer.text("<urlset><url><loc>", content_type=sitemaps.XML),
    }
    return kinds[visit.part(0, "cycle.xml")]()


ODDITIES: dict[str, Callable[[Visit], Answer]] = {
    "status": lambda v: wire.status(int(v.number(500)), v.query.get("retry_after")),
    "slow": lambda v: wire.slow(v.number(1)),
    "drip": lambda v: wire.drip(v.number(0.1)),
    "hang": lambda _: wire.hang(),
    "reset": lambda _: wire.reset(),
    "cut": lambda v: wire.cut(int(v.number(10))),
    "endless": lambda _: wire.endless(),
    "garbage": lambda _: wire.garbage(),
    "http09": lambda _: wire.http09(),
    "continues": lambda v: wire.continues(int(v.number(1000))),
    "long-header": lambda v: wire.long_header(int(v.number(1_000_000))),
    "many-headers": lambda v: wire.many_headers(int(v.number(10_000))),
    "chain": _redirect_chain,
    "loop": _redirect_loop,
    "counting": _redirect_counting,
    "to": _redirect_to,
    "echo": _echo,
    "sitemap": _sitemap,
    "big": lambda v: bodies.big(int(v.number(10_000_000))),
    "bomb": lambda v: bodies.bomb(v.part(1, "gzip"), int(v.number(100))),
    "encoded": lambda v: bodies.encoded(v.part(0, "gzip")),
    "charset": lambda v: bodies.charset(v.part(0, "utf-8"), v.part(1, "latin-1")),
    "type": lambda v: bodies.typed("/".join(v.rest) or "application/pdf"),
    "nul": lambda _: bodies.nul(),
    "hostile": lambda _: bodies.hostile(),
    "nested": lambda v: bodies.nested(int(v.number(100_000))),
    "kill-me": lambda _: bodies.kill_me(),
    "app": lambda v: bodies.script_app(v.part(0, "")),
    "meta": lambda v: bodies.meta(v.part(0, "noindex"), v.origin),
    "calendar": lambda v: traps.calendar(int(v.number(2026)), int(v.part(1, "1"))),
    "deeper": lambda v: traps.deeper(v.request.path),
    "session": lambda v: traps.session(v.query.get("sid")),
    "facets": lambda v: traps.facets(v.query),
    "hrefs": lambda v: traps.hrefs(v.origin),
    "many-links": lambda v: traps.many_links(int(v.number(500_000))),
}

SAMPLES = (
    *(f"/x/status/{status}" for status in (401, 403, 404, 410, 418, 500)),
    *(f"/x/meta/{kind}" for kind in bodies.METAS),
    *(f"/x/encoded/{coding}" for coding in bodies.CODINGS),
    "/x/slow/0.2",
    "/x/chain/3",
    "/x/loop/a",
    "/x/echo",
    "/x/charset/utf-8/latin-1",
    "/x/charset/windows-1252/utf-8",
    "/x/type/application/pdf",
    "/x/type/image/svg+xml",
    "/x/nul",
    "/x/hostile",
    "/x/hrefs",
)
