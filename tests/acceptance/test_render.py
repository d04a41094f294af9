"""`crawler run` on sites that need a browser: real processes, a real Chromium, a real server."""

import json
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from crawler.adapters.browser.fetcher import why_unavailable
from tests.acceptance.cli import Cli
from tests.integration.raw_server import Request, Server, response, serving

pytestmark = [pytest.mark.slow, pytest.mark.stack]
ROUTES = {"/": "Home", "/about": "About us", "/team/anna": "Anna", "/team/bob": "Bob"}
APP = """<!doctype html><html><head><title>loading</title></head><body><div id=root></div><script>
const routes = ROUTES;
function show() {
  const name = routes[location.pathname] || 'Lost';
  document.title = name;
  document.getElementById('root').innerHTML = `<h1>${name}</h1><p>${('All about ' + name + '. ').repeat(30)}</p>`
    + Object.keys(routes).map(route => `<a href="${route}">${route}</a>`).join(' ');
}
addEventListener('popstate', show);
show();
</script></body></html>""".replace("ROUTES", json.dumps(ROUTES))


def app(_: socket.socket, request: Request) -> bytes:
    """The same shell for every path, as servers of single-page apps send it."""
    found = request.path in ROUTES
    return response(APP.encode()) if found else response(b"", "404 Not Found")


@contextmanager
def watching(look: Callable[[], None]) -> Iterator[None]:
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            look()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@pytest.fixture
def site() -> Iterator[Server]:
    with serving(app) as server:
        yield server


@pytest.fixture
def temporary() -> Iterator[Path]:
    """With a path that is short enough for the socket of a browser."""
    with tempfile.TemporaryDirectory(prefix="t-") as made:
        yield Path(made)


def browsers_below(directory: Path) -> list[str]:
    """Their profiles are kept there."""
    commands = (" ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"]))
    return [command for command in commands if "--user-data-dir" in command and str(directory) in command]


@pytest.mark.skipif(why_unavailable(None) is not None, reason=str(why_unavailable(None)))
def test_every_route_of_a_single_page_app_is_found_and_no_browser_stays_behind(
    site: Server, tmp_path: Path, temporary: Path
) -> None:
    # With servers of its own: for half a minute the next crawl there would count on this one's browser.
    cli = Cli(tmp_path / "data", TMPDIR=str(temporary))
    export = ("--export", str(tmp_path / "out"), "--format", "jsonl", "--format", "markdown")
    seen: set[str] = set()
    with watching(lambda: seen.update(browsers_below(temporary))):
        told = cli.json("run", site.url("/"), "--delay", "0", "--render", "auto", *export)
    assert seen, "there was a browser while it crawled"
    assert (told["status"], told["pages_crawled"], told["rendered"], told["lightweight"]) == ("completed", 4, 4, 0)
    pages = [json.loads(line) for line in (tmp_path / "out" / "pages.jsonl").read_text().splitlines()]
    assert {page["title"] for page in pages} == set(ROUTES.values())
    assert all(f"All about {page['title']}." in page["content_text"] for page in pages)
    assert {page["crawl_method"] for page in pages} == {"crawl4ai"}
    whole = (tmp_path / "out" / "site.md").read_text()
    assert f"--- {site.url('/')} (depth 1) ---" in whole
    assert "# Anna" in whole
    why = cli("explain", told["crawl_id"], site.url("/about")).stdout
    assert "in a browser: the homepage needs one, as it has 0 characters of text, fewer than 200" in " ".join(
        why.split()
    )
    assert browsers_below(temporary) == []
    assert [path for path in temporary.iterdir() if "chromium" in path.name.lower()] == [], "nor its files"


def test_without_a_browser_the_pages_stay_light_with_one_warning_and_doctor_knows_what_to_do(
    cli: Cli, site: Server
) -> None:
    cli.environment["CRAWLER_CHROMIUM"] = "/nowhere/chromium"
    done = cli("run", site.url("/"), "--delay", "0", "--render", "auto")
    assert done.returncode == 0, done.stderr
    told = " ".join((done.stdout + done.stderr).split())
    assert told.count("may need a browser") == 1
    assert "1 page may need a browser and was stored as fetched; 'crawler doctor' says how to get one." in told
    advice = " ".join(cli("doctor").stdout.split())
    assert "CRAWLER_CHROMIUM" in advice


def test_a_browser_that_does_not_start_costs_one_crawl_a_moment_and_the_next_nothing(
    cli: Cli, site: Server, tmp_path: Path
) -> None:
    broken = tmp_path / "chromium"
    broken.write_text(f"#!/bin/sh\necho x >> {tmp_path}/starts\necho 'cannot load: libnss3.so' >&2\nexit 127\n")
    broken.chmod(0o755)
    cli.environment["CRAWLER_CHROMIUM"] = str(broken)
    for _ in range(2):
        told = cli.json("run", site.url("/"), "--delay", "0", "--render", "auto")
        assert (told["status"], told["pages_crawled"], told["rendered"]) == ("completed", 1, 0)
        assert (tmp_path / "starts").read_text() == "x\n"
    advice = " ".join(cli("doctor").stdout.split())
    assert "The browser ended at once; pages stay as they are fetched." in advice
    assert "Cannot load: libnss3.so" in advice
