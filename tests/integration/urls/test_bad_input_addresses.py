"""Addresses no crawl may reach, however they are written or named: told as `egress`, never dialled (B1-B4, B8)."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from crawler.adapters.curl import name_lookup
from crawler.domain.crawls.crawl import CrawlStatus
from crawler.domain.urls.url import UrlRefused, shortened
from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine
from tests.integration.odd_names import look_names_up, watch_dials
from tests.integration.raw_server import Request, Server, response, serving
from tests.site.client import Site

ODDLY_WRITTEN = [
    "http://127.1/",
    "http://0x7f.1/",
    "http://2130706433/",
    "http://①②⑦.⓪.⓪.①/",
    "http://0/",
    "http://127。0。0。1/",
    "http://169.254.169.254:8888\\@example.com/",
    "http://a@b@c/",
    "http://exam\tple.com/",
    "http://exam\nple.com/",
]
NOT_OF_THE_WEB = [
    "file:///etc/passwd",
    "ftp://example.com/file",
    "gopher://example.com/1",
    "javascript:alert(1)",
    "data:text/html,<p>x",
    "source:file:///etc/passwd",
]
INNER = [
    "http://[::ffff:a9fe:a9fe]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[2002:a9fe:a9fe::1]/",
    "http://[fec0::1]/",
    "http://[::1]/",
    "http://168.63.129.16/",
    "http://100.100.100.200/",
    "http://169.254.169.254/latest/meta-data",
    "http://10.0.0.1/",
    "http://0.0.0.0/",
]


@pytest.mark.parametrize(
    ("reason", "seed"),
    [*(("egress", seed) for seed in ODDLY_WRITTEN), *(("scheme", seed) for seed in NOT_OF_THE_WEB)],
)
def test_a_seed_that_programs_read_differently_is_refused_with_its_reason(
    crawler: Engine, reason: str, seed: str
) -> None:
    with pytest.raises(UrlRefused) as refused:
        crawler.start(crawler.project(None), seed_url=seed)
    assert refused.value.reason.value == reason
    assert crawler.rows("SELECT 1 FROM crawl_jobs") == []


def test_inner_addresses_in_a_list_are_told_as_egress_and_the_page_beside_them_is_stored(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled = watch_dials(monkeypatch)
    crawl = crawler.crawl(site.url(), urls=(*INNER, site.url()))
    ledger = crawler.ledger(crawl)
    good = ledger.pop(site.url())
    assert (crawl.status, good["fetch_state"]) == (CrawlStatus.COMPLETED, "done")
    assert {key: (row["fetch_state"], row["reason"]) for key, row in ledger.items()} == dict.fromkeys(
        INNER, ("skipped", "egress")
    )
    assert all("may not be reached" in row["error_message"] for row in ledger.values())
    assert set(dialled) == {"127.0.0.1"}
    requests = crawler.rows("SELECT DISTINCT host FROM request_log")
    assert requests == [{"host": f"127.0.0.1:{site.port}"}], "the audit knows of no request to them either"


def test_a_seed_at_an_inner_address_fails_its_crawl_and_says_why(
    crawler: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled = watch_dials(monkeypatch)
    crawl = crawler.crawl("http://169.254.169.254/latest/")
    assert crawl.status is CrawlStatus.FAILED
    assert crawl.error_message == (
        "http://169.254.169.254/latest/ could not be fetched: 169.254.169.254:80 may not be reached from here, as it "
        "is no public address; if it should be, start the service ('crawler up'; stop it first if it runs) with "
        "CRAWLER_EGRESS_ALLOW=127.0.0.0/8,169.254.169.254:80"
    )
    assert dialled == []


def test_links_to_such_addresses_are_not_followed_even_where_their_host_is_in_scope(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled = watch_dials(monkeypatch)
    lay(site, {"/": [*ODDLY_WRITTEN, *NOT_OF_THE_WEB, *INNER, "/good"], "/good": []})
    crawl = crawler.crawl(site.url(), allowed_hosts=INNER)
    found = {key: row["reason"] or row["fetch_state"] for key, row in crawler.ledger(crawl).items()}
    for url, end in {site.url(): "done", site.url("/good"): "done", **dict.fromkeys(INNER, "egress")}.items():
        assert found.pop(url) == end
    assert set(found) == {shortened(url, site.url()) for url in (*ODDLY_WRITTEN, *NOT_OF_THE_WEB)}
    assert set(found.values()) == {"egress", "scheme"}
    assert not any("secret" in url for url in found), "a password is not kept"
    assert set(dialled) == {"127.0.0.1"}


def test_redirects_to_such_addresses_say_so_and_go_nowhere(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled = watch_dials(monkeypatch)
    targets = [
        target for target in (*ODDLY_WRITTEN, *NOT_OF_THE_WEB, *INNER) if target.isascii() and "\n" not in target
    ]
    lay(site, {"/": [*(f"/away/{n}" for n in range(len(targets))), "/good"], "/good": []})
    for number, target in enumerate(targets):
        site.set_fault(f"/away/{number}", redirect=target)
    crawl = crawler.crawl(site.url(), allowed_hosts=INNER)
    found = {key: row["reason"] or row["fetch_state"] for key, row in crawler.ledger(crawl).items()}
    told = {target: found[site.url(f"/away/{number}")] for number, target in enumerate(targets)}
    assert {target for target, end in told.items() if end == "redirected"} == set(INNER), "hosts in scope"
    assert {found[target] for target in INNER} == {"egress"}
    assert {told[target] for target in NOT_OF_THE_WEB} == {"scheme"}
    assert {told[target] for target in targets if target in ODDLY_WRITTEN} == {"egress"}
    assert found[site.url("/good")] == "done"
    assert set(dialled) == {"127.0.0.1"}


def test_of_a_name_with_a_public_and_an_inner_address_only_the_allowed_one_is_dialled(
    crawler: Engine, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialled = watch_dials(monkeypatch)
    look_names_up(crawler, {"mixed.test": ["10.0.0.1", "127.0.0.1", "::1"], "inner.test": ["10.0.0.1", "::1"]})
    lay(site, {"/": [f"http://inner.test:{site.port}/secret", "/good"], "/good": []})
    crawl = crawler.crawl(f"http://mixed.test:{site.port}/", allowed_hosts=[f"inner.test:{site.port}"])
    assert crawler.ends(crawl) == {"/": "done", "/good": "done", "/secret": "egress"}
    assert set(dialled) == {"127.0.0.1"}


class TestRebinding:
    """A name that is public when it is judged and inner when it is dialled."""

    @pytest.fixture
    def engine_settings(self) -> dict[str, object]:
        return {"egress_allow": "127.0.0.1/32"}

    def test_a_name_that_turns_inner_between_two_requests_reaches_nobody(
        self, crawler: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(name_lookup, "KEEP_SECONDS", 0.0)  # as an answer with TTL 0
        answers = iter([["127.0.0.1"], *[["127.0.0.2"]] * 9])

        def lookup(name: str) -> list[str]:
            return next(answers) if name == "rebind.test" else ["127.0.0.1"]

        def closing(stream: socket.socket, request: Request) -> None:
            stream.sendall(response(b"<p>hello</p>", "200 OK", "Connection: close"))

        with (
            serving(closing, host="127.0.0.1") as outer,
            serving(closing, host="127.0.0.2", port=outer.port) as victim,
        ):
            look_names_up(crawler, lookup)
            urls = (outer.url("/secret", "rebind.test"), outer.url("/good", "honest.test"))
            crawl = crawler.crawl(urls[0], urls=urls)
        assert crawler.ends(crawl) == {"/secret": "egress", "/good": "done"}
        assert victim.connections == 0
        assert "/secret" not in [request.path for request in outer.requests]


def test_the_site_saw_none_of_the_odd_links(crawler: Engine, site: Site) -> None:
    """Spellings of this very site that a lenient crawler would have followed back to it."""
    port = site.port
    lay(site, {"/": [f"http://127.1:{port}/a", f"http://0x7f.1:{port}/b", f"http://u:p@127.0.0.1:{port}/c", "/good"]})
    lay(site, {path: [] for path in ("/a", "/b", "/c", "/good")})
    crawler.crawl(site.url())
    assert asked(site) == ["/", "/good"]


class TestThroughAProxy:
    """The proxy dials, so the target is judged before the proxy is asked."""

    @pytest.fixture
    def proxy(self) -> Iterator[Server]:
        def answer(_: socket.socket, request: Request) -> bytes:
            return response(b"", "404 Not Found") if "robots" in request.path else response(b"<p>hello</p>")

        with serving(answer) as server:
            yield server

    @pytest.fixture
    def engine_settings(self, proxy: Server) -> dict[str, object]:
        return {"proxy_url": f"http://127.0.0.1:{proxy.port}", "egress_allow": ""}

    def test_a_proxy_is_not_asked_for_what_may_not_be_reached(self, crawler: Engine, proxy: Server) -> None:
        public = "http://93.184.216.34/"
        crawl = crawler.crawl(public, urls=(public, *INNER))
        found = {key: row["reason"] or row["fetch_state"] for key, row in crawler.ledger(crawl).items()}
        assert found == {public: "done", **dict.fromkeys(INNER, "egress")}
        assert [request.path for request in proxy.requests] == [f"{public}robots.txt", public]
