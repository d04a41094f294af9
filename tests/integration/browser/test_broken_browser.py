"""A Chromium that is there and cannot be used: a missing library, no sandbox, a machine that is too slow."""

from pathlib import Path

import pytest

from crawler.adapters.browser.fetcher import why_unavailable
from crawler.domain.crawls.crawl import CrawlStatus
from crawler.domain.crawls.frontier import Lane
from crawler.entrypoints.doctor import queue_checks
from tests.integration.browser.driving import answering, asked, pages
from tests.integration.browser.two_lanes import TwoLanes
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, response
from workers.announce import Announcer

SHELL = "<html><body><div id=root></div><script>root.append('rendered')</script><a href=/a>a</a></body></html>"


@pytest.fixture
def engine_settings(tmp_path: Path) -> dict[str, object]:
    program = tmp_path / "chromium"
    program.write_text(f"#!/bin/sh\necho x >> {tmp_path}/starts\necho 'cannot load: libnss3.so' >&2\nexit 127\n")
    program.chmod(0o755)
    return {"chromium": program, "shift_seconds": 20, "data_dir": tmp_path / "data"}


@pytest.mark.slow
def test_pages_are_stored_as_the_server_sends_them_with_a_note(two_lanes: TwoLanes) -> None:
    with pages({"/": SHELL, "/a": f"<p>{'Plenty of words. ' * 30}</p>"}) as site:
        crawl = two_lanes.crawl(site.url("/"))
    assert (crawl.status, crawl.pages_crawled, crawl.rendered) == (CrawlStatus.COMPLETED, 2, 0)
    noted = {path: (row["fetch_state"], row["reason"]) for path, row in two_lanes.paths(crawl).items()}
    assert noted == dict.fromkeys(("/", "/a"), ("done", "render_unavailable"))
    assert crawl.rendering is not None
    assert crawl.rendering["unavailable"] is True
    assert asked(site).count("/") == 2, "once more, when there was no browser"


@pytest.mark.slow
def test_it_is_tried_once_and_the_next_crawls_do_not_wait_for_it(two_lanes: TwoLanes, tmp_path: Path) -> None:
    with pages({"/": SHELL, "/a": "<p>x</p>"}) as site:
        first = two_lanes.crawl(site.url("/"))
        attempts = {row["attempts"] for row in two_lanes.paths(first).values()}
        again = two_lanes.crawl(site.url("/"))
    assert attempts == {1}, "no page was tried again and again"
    assert (first.rendered, again.rendered, again.pages_crawled) == (0, 0, 2)
    assert (tmp_path / "starts").read_text() == "x\n"
    settings = two_lanes.tools.settings
    assert why_unavailable(settings.chromium, settings.data_dir) == "The browser ended at once: cannot load: libnss3.so"


@pytest.mark.slow
def test_its_worker_says_that_it_cannot_and_why(two_lanes: TwoLanes) -> None:
    tools = two_lanes.tools
    tools.redis.flushdb()
    pulse = Announcer(tools.operating.live_workers, tools.settings, "render@here", ["render"])
    pulse()
    assert tools.operating.live_workers.is_open(Lane.BROWSER)
    with pages({"/": SHELL}) as site:
        two_lanes.crawl(site.url("/"))
        pulse()
        assert not tools.operating.live_workers.is_open(Lane.BROWSER)
        lack = "The browser ended at once: cannot load: libnss3.so"
        assert {name: told.lack for name, told in tools.operating.live_workers.of("render").items()} == {
            "render@here": lack
        }
        before = len(site.requests)
        Engine(tools).crawl(site.url("/"), render="auto")
        assert asked(site)[before:].count("/") == 1, "nobody waits for it any more"
    (check,) = [check for check in queue_checks(tools) if check.name == "worker render@here"]
    assert (check.ok, check.fix) == (False, "Cannot load: libnss3.so")
    assert check.message == "The browser ended at once; pages stay as they are fetched."


def test_a_shell_on_a_light_site_is_stored_with_a_note_too(two_lanes: TwoLanes) -> None:
    home = f"<h1>Home</h1><p>{'Plenty of words. ' * 30}</p><p>x</p><a href=/shell>s</a>"
    with pages({"/": home, "/shell": SHELL.replace("<a href=/a>a</a>", "")}) as site:
        crawl = two_lanes.crawl(site.url("/"))
    noted = {path: (row["fetch_state"], row["reason"]) for path, row in two_lanes.paths(crawl).items()}
    assert noted == {"/": ("done", None), "/shell": ("done", "render_unavailable")}


@pytest.mark.slow
def test_always_does_without_it_and_a_refusal_stays_one(two_lanes: TwoLanes) -> None:
    def respond(_: object, request: Request) -> bytes:
        return response(b"no", "403 Forbidden") if request.path == "/" else response(b"", "404 Not Found")

    with pages({"/": "<p>x</p>"}) as site:
        always = two_lanes.crawl(site.url("/"), render="always")
    with answering(respond) as site:
        refused = two_lanes.crawl(site.url("/"))
    assert two_lanes.paths(always)["/"]["reason"] == "render_unavailable"
    assert two_lanes.paths(refused)["/"]["reason"] == "forbidden"
    assert asked(site).count("/") == 2, "light, and once more when there was no browser"
