"""A Chromium that is there and cannot be used: a missing library, no sandbox, a machine that is too slow."""

from pathlib import Path

import pytest

from crawler.domain.crawls import CrawlStatus
from tests.integration.browser.driving import answering, asked, pages
from tests.integration.browser.two_lanes import TwoLanes
from tests.integration.raw_server import Request, response

SHELL = "<html><body><div id=root></div><script>root.append('rendered')</script><a href=/a>a</a></body></html>"


@pytest.fixture
def engine_settings(tmp_path: Path) -> dict[str, object]:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\necho 'error while loading shared libraries: libnss3.so' >&2\nexit 127\n")
    program.chmod(0o755)
    return {"chromium": program, "shift_seconds": 20, "data_dir": tmp_path / "data"}


def test_pages_are_stored_as_the_server_sends_them_with_a_note(two_lanes: TwoLanes) -> None:
    with pages({"/": SHELL, "/a": f"<p>{'Plenty of words. ' * 30}</p>"}) as site:
        crawl = two_lanes.crawl(site.url("/"))
    assert (crawl.status, crawl.pages_crawled, crawl.rendered) == (CrawlStatus.COMPLETED, 2, 0)
    noted = {path: (row["fetch_state"], row["reason"]) for path, row in two_lanes.paths(crawl).items()}
    assert noted == dict.fromkeys(("/", "/a"), ("done", "render_unavailable"))
    assert crawl.rendering is not None
    assert crawl.rendering["unavailable"] is True
    assert asked(site).count("/") == 2, "once more, when there was no browser"


def test_a_shell_on_a_light_site_is_stored_with_a_note_too(two_lanes: TwoLanes) -> None:
    home = f"<h1>Home</h1><p>{'Plenty of words. ' * 30}</p><p>x</p><a href=/shell>s</a>"
    with pages({"/": home, "/shell": SHELL.replace("<a href=/a>a</a>", "")}) as site:
        crawl = two_lanes.crawl(site.url("/"))
    noted = {path: (row["fetch_state"], row["reason"]) for path, row in two_lanes.paths(crawl).items()}
    assert noted == {"/": ("done", None), "/shell": ("done", "render_unavailable")}


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
