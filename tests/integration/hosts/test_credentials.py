"""Credentials reach the origin they were stored for and nobody else, and are nowhere to be read."""

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from crawler.adapters.curl.fetcher import CurlFetcher
from crawler.adapters.postgres.tables import metadata
from crawler.domain.crawls.crawl import CrawlType
from crawler.domain.crawls.project import ACQUISITION_ID
from crawler.domain.hosts.credentials import CredentialKind
from crawler.telemetry import configure_logs
from tests.integration.acquiring import extracting
from tests.integration.certificates import Authority
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, Server, response, serving
from tests.site.client import Site

SECRET = "hunter2-of-the-test"
HEADER = "x-key"
Pages = dict[str, str | bytes]


@contextmanager
def place(pages: Pages, host: str = "127.0.0.1") -> Iterator[Server]:
    """Path → HTML or a whole answer; what a page of the dict becomes later is served later."""

    def respond(_: object, request: Request) -> bytes:
        found = pages.get(request.path)
        if found is None:
            return response(b"nothing here", "404 Not Found")
        return found if isinstance(found, bytes) else response(found.encode())

    with serving(respond, host=host) as server:
        yield server


def moved(url: str) -> bytes:
    return response(b"", "302 Found", f"Location: {url}")


def text(words: str) -> bytes:
    return response(words.encode(), "200 OK", "Content-Type: text/plain")


def sitemap(*urls: str, index: bool = False) -> bytes:
    outer, inner = ("sitemapindex", "sitemap") if index else ("urlset", "url")
    body = "".join(f"<{inner}><loc>{url}</loc></{inner}>" for url in urls)
    return response(
        f'<{outer} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{body}</{outer}>'.encode(),
        "200 OK",
        "Content-Type: application/xml",
    )


def give(crawler: Engine, project_id: UUID, url: str, value: str = SECRET) -> None:
    crawler.tools.projects.credentials.set(project_id, url, CredentialKind.HEADER, "X-Key", value)


def host_of(server: Server) -> str:
    return f"{server.host}:{server.port}"


def told(server: Server) -> list[str]:
    """Paths of requests in which the secret came, wherever it stood."""
    return [one.path for one in server.requests if SECRET in one.line + str(one.headers)]


def asked(server: Server) -> list[str]:
    """Without robots.txt, which is read once for all projects: it never gets the secrets of one."""
    return [one.path for one in server.requests if one.path != "/robots.txt"]


def rows_of(crawler: Engine) -> str:
    return str([crawler.rows(f"SELECT * FROM {table.name}") for table in metadata.sorted_tables])


def in_redis(crawler: Engine) -> bytes:
    client = crawler.tools.redis
    return b"".join(client.dump(key) or b"" for key in client.scan_iter())


def test_every_request_of_a_crawl_takes_them_to_their_origin_and_to_no_other(crawler: Engine) -> None:
    """Seed, links, sitemaps, redirects, probes of what is gone, second looks, trials of parameters, lists."""
    here: Pages = {}
    strange: Pages = {}
    beside: Pages = {}
    with place(here) as own, place(strange, "127.0.0.2") as other, place(beside) as port:
        items = [f"/item?kind={n}" for n in range(4)]
        links = [
            "/a",
            "/gone",
            "/to-other",
            "/to-port",
            "/there-and-back",
            other.url("/page"),
            port.url("/page"),
            *items,
        ]
        here |= {"/": page(*links), "/to-other": moved(other.url("/landed")), "/to-port": moved(port.url("/landed"))}
        here |= {path: page(title=path, body=f"<p>All that stands at {path}</p>") for path in ("/a", "/gone", *items)}
        here |= {
            "/there-and-back": moved(other.url("/back")),
            "/back": page(),
            "/listed": page(),
            "/from-there": page(),
        }
        here["/item"] = page()
        here["/robots.txt"] = text(f"Sitemap: {own.url('/sitemap.xml')}\nSitemap: {other.url('/sitemap.xml')}\n")
        here |= {"/sitemap.xml": sitemap(own.url("/listed"), other.url("/listed"))}
        here |= {"/more.xml": sitemap(own.url("/from-there"))}
        strange |= {
            "/landed": page(),
            "/page": page(own.url("/a")),
            "/back": moved(own.url("/back")),
            "/listed": page(),
        }
        strange |= {
            "/": page("/page", own.url("/a"), own.url("/b")),
            "/sitemap.xml": sitemap(own.url("/more.xml"), index=True),
        }
        beside |= {"/landed": page(), "/page": page()}
        hosts = [host_of(server) for server in (own, other, port)]
        project = crawler.project(own.url(), delay_seconds=0, allowed_hosts=hosts)
        give(crawler, project.id, own.url())
        first = crawler.run(crawler.start(project))
        crawler.run(crawler.start(project, urls=(own.url("/a"), other.url("/page"), port.url("/page"))))
        del here["/gone"]
        here["/"] = page(*(link for link in links if link != "/gone"))
        here["/a"] = page(title="/a", body="<p>Other words stand here now.</p>")
        second = crawler.run(crawler.start(project, crawl_type=CrawlType.SCHEDULED))
        purposes = {row["purpose"] for row in crawler.rows("SELECT DISTINCT purpose FROM crawl_probes")}
    assert purposes == {"missing", "again", "trial"}
    assert first.pages_crawled > 5
    assert second.change_summary is not None
    assert told(own) == asked(own)
    met = {
        "/",
        "/a",
        "/gone",
        "/to-other",
        "/there-and-back",
        "/back",
        "/listed",
        "/from-there",
        "/sitemap.xml",
        "/more.xml",
    }
    assert met | set(items) <= set(asked(own))
    assert {"/landed", "/page", "/back", "/listed", "/sitemap.xml"} <= set(asked(other))
    assert {"/landed", "/page"} <= set(asked(port))
    assert told(other) == told(port) == []


def test_they_stay_with_their_origin_when_the_address_of_the_project_changes(crawler: Engine) -> None:
    with place({"/": page()}) as own, place({"/": page("/a")}, "127.0.0.2") as other, place({"/": page()}) as port:
        project = crawler.project(own.url(), delay_seconds=0, use_sitemaps=False)
        give(crawler, project.id, own.url())
        for address in (other, port, own):
            changed = crawler.tools.projects.manage.change(project.id, {"website_url": address.url()})
            assert crawler.run(crawler.start(changed)).pages_crawled == 1
    assert asked(other) == ["/", "/a"]
    assert asked(port) == ["/"]
    assert told(other) == told(port) == []
    assert told(own) == ["/"], "where it came back to, they still are"


def test_a_crawl_that_begins_elsewhere_takes_no_secret_along(crawler: Engine) -> None:
    with place({"/": page()}) as own, place({"/": page(own.url("/"))}, "127.0.0.2") as other:
        project = crawler.project(own.url(), delay_seconds=0, use_sitemaps=False, allowed_hosts=[host_of(own)])
        give(crawler, project.id, own.url())
        crawler.run(crawler.start(project, seed_url=other.url()))
    assert (told(own), told(other)) == (["/"], [])
    assert asked(other) == ["/"]


def test_another_origin_has_credentials_of_its_own(crawler: Engine) -> None:
    with place({"/": page()}, "127.0.0.2") as other, place({"/": page(other.url("/"))}) as own:
        project = crawler.project(own.url(), delay_seconds=0, use_sitemaps=False, allowed_hosts=[host_of(other)])
        give(crawler, project.id, own.url(), "for-own")
        give(crawler, project.id, other.url("/any/page?of=it"), "for-other")
        crawler.run(crawler.start(project))
    pages = [(one.path, one.headers.get(HEADER)) for server in (own, other) for one in server.requests]
    assert [page for page in pages if page[0] == "/"] == [("/", "for-own"), ("/", "for-other")]


def test_entries_of_the_queue_take_them_to_their_origin_only(crawler: Engine) -> None:
    there: Pages = {"/x": page(), "/landed": page()}
    with (
        place(there, "127.0.0.2") as other,
        place({"/x": page(), "/to-other": moved(other.url("/landed"))}) as own,
        extracting(crawler) as extraction,
    ):
        give(crawler, ACQUISITION_ID, own.url())
        extraction.fetch(own.url("/x"), own.url("/to-other"), other.url("/x"))
    assert sorted(told(own)) == ["/to-other", "/x"]
    assert (sorted(asked(other)), told(other)) == (["/landed", "/x"], [])


def test_a_downgrade_to_plain_http_loses_them_and_the_way_back_has_them(crawler: Engine, tmp_path: Path) -> None:
    name, authority = "shop.test", Authority.create(tmp_path)
    tools, safe, plain = crawler.tools, {}, {}  # type: ignore[var-annotated]

    def answer(pages: Pages, request: Request) -> bytes:
        found = pages.get(request.path, response(b"", "404 Not Found"))
        return found if isinstance(found, bytes) else response(found.encode())

    with (
        serving(lambda _, request: answer(safe, request), tls=authority.context(name)) as https,
        serving(lambda _, request: answer(plain, request)) as http,
    ):
        tools.engine.fetcher = CurlFetcher(
            user_agent=tools.settings.user_agent,
            egress=tools.egress,
            ca_bundle=authority.bundle,
            resolve={name: ["127.0.0.1"]},
        )
        safe |= {"/": page("/down"), "/down": moved(http.url("/here", name)), "/up": page()}
        plain |= {"/here": moved(https.url("/up", name))}
        hosts = [f"{name}:{server.port}" for server in (https, http)]
        project = crawler.project(https.url("/", name), delay_seconds=0, use_sitemaps=False, allowed_hosts=hosts)
        give(crawler, project.id, https.url("/", name))
        crawler.run(crawler.start(project))
    assert told(https) == ["/", "/down", "/up"]
    assert (asked(http), told(http)) == (["/here"], [])


def test_nothing_that_is_kept_shows_them(crawler: Engine) -> None:
    """Not in Postgres, not in Redis, not in what is exported or explained."""
    with place({"/": page("/a", "/b"), "/a": page()}) as own:
        project = crawler.project(own.url(), delay_seconds=0, use_sitemaps=False)
        manage = crawler.tools.projects.credentials
        give(crawler, project.id, own.url())
        manage.set(project.id, own.url(), CredentialKind.COOKIE, "sid", SECRET)
        manage.set(project.id, own.url(), CredentialKind.BASIC_AUTH, None, f"me:{SECRET}")
        crawl = crawler.start(project)
        state = crawler.tools.engine.crawl_state.load(crawl.id)
        assert state is not None
        assert SECRET in str(state.credentials)
        assert SECRET not in repr(state)
        crawler.shift()
        assert SECRET.encode() not in in_redis(crawler)
        crawler.run(crawl)
        explained = crawler.tools.crawls.explain_url(crawl.id, own.url("/b"))
        listed = manage.list(project.id)
    assert own.requests[1].headers["cookie"] == f"sid={SECRET}"
    assert own.requests[1].headers["authorization"].startswith("Basic ")
    assert SECRET not in rows_of(crawler)
    assert SECRET.encode() not in in_redis(crawler)
    assert SECRET not in str(explained) + str(listed)
    kinds = [(one.origin, one.kind, one.name) for one in listed]
    origin = own.url("").rstrip("/")
    assert kinds == [(origin, "header", "X-Key"), (origin, "cookie", "sid"), (origin, "basic_auth", "Authorization")]


def test_a_crawl_with_credentials_does_not_sign_itself_out(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ("/a", "/logout", "/?do=logout"), "/a": (), "/logout": ()})
    project = crawler.project(site.url(), delay_seconds=0, use_sitemaps=False)
    crawler.tools.projects.credentials.set(project.id, site.url(), CredentialKind.COOKIE, "sid", SECRET)
    rows = crawler.paths(crawler.run(crawler.start(project)))
    assert {path: row["reason"] for path, row in rows.items()} == {"/": None, "/a": None, "/logout": "trap"}


def test_logs_of_a_crawl_show_no_secret(crawler: Engine, site: Site) -> None:
    stream = io.StringIO()
    configure_logs("debug")
    handler = logging.getLogger().handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(stream)
    try:
        project = crawler.project(site.url(), delay_seconds=0)
        crawler.tools.projects.credentials.set(project.id, site.url(), CredentialKind.COOKIE, "sid", SECRET)
        crawler.run(crawler.start(project))
    finally:
        logging.getLogger().handlers.clear()
        logging.getLogger().setLevel(logging.WARNING)
    assert "crawl_ended" in stream.getvalue()
    assert SECRET not in stream.getvalue()
