"""A stranger with curl: the whole system started, a site crawled over HTTP, its pages read, a crawl cancelled.

Then the same from a terminal that has only the service's address and a key.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import requests

from crawler.config import load_settings
from tests.acceptance.cli import Cli
from tests.acceptance.test_up import eventually, free_port, get
from tests.site.client import Site

README = Path(__file__).parents[2] / "README.md"
WATCH = README.parent / "docs" / "examples" / "watch.py"


class Curl:
    def __init__(self, port: int, key: str) -> None:
        self.base = f"http://127.0.0.1:{port}/api/v1"
        self.session = requests.Session()
        self.session.headers["Authorization"] = f"Bearer {key}"

    def __call__(self, method: str, path: str, status: int = 200, **options: Any) -> Any:
        answer = self.session.request(method, self.base + path, timeout=30, **options)
        assert answer.status_code == status, answer.text
        kind = answer.headers.get("content-type", "")
        return answer.json() if kind in {"application/json", "application/problem+json"} else answer.text


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with Site(tmp_path, hosts=1, pages=40) as site:
        yield site


def service_process(command: psutil.Process) -> psutil.Process:
    (found,) = [p for p in command.children(recursive=True) if "crawler.entrypoints.api.app:create_app" in p.cmdline()]
    return found


def follow_the_readme(cli: Cli, site: Site, port: int) -> None:
    """Its lines as they stand there, but for what is another's: paths, the port and the website."""
    block = README.read_text().split("## As a service")[1].split("```")[1]
    key, call, create, start, watch, live, pages, enqueue, cancel = block.strip().splitlines()
    told = {
        ".venv/bin/crawler": f"{sys.executable} -m crawler.entrypoints.cli", ".venv/bin/python": sys.executable,
        "~/.local/share/crawler": str(cli.data_dir), ":8800": f":{port}", "https://example.org/": site.url(),
    }  # fmt: skip

    def run(line: str) -> str:
        names = re.compile("|".join(map(re.escape, told)))
        words = names.sub(lambda name: told[name.group()], "\n".join((key, call, line)))
        done = subprocess.run(
            ["bash", "-c", words], cwd=README.parent, env=cli.environment, capture_output=True, text=True, timeout=90,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}\n{cli.logs()}"
        return done.stdout

    told["PROJECT_ID"] = json.loads(run(create))["id"]
    small = """call $API/projects/PROJECT_ID -X PATCH -d '{"settings": {"delay_seconds": 0.02, "render": "never"}}'"""
    assert json.loads(run(small))["settings"]["delay_seconds"] == 0.02
    told["CRAWL_ID"] = json.loads(run(start))["crawl_id"]
    assert "pages crawled" in run(watch)
    assert json.loads(run(live).splitlines()[-1])["type"] == "completed"
    assert len(json.loads(run(pages))["items"]) >= 30
    slow = """call $API/projects/PROJECT_ID -X PATCH -d '{"settings": {"delay_seconds": 5}}'"""
    run(slow)
    told["BROKER_URL"] = load_settings(redis_url=_redis(cli)).broker
    told["CRAWL_ID"] = run(enqueue).split()[1]
    assert run(cancel) == ""
    assert json.loads(run("call $API/crawl/CRAWL_ID"))["status"] == "cancelled"


def _redis(cli: Cli) -> str:
    state = json.loads((cli.data_dir / "servers" / "state.json").read_text())
    return f"unix://{state['valkey']['socket']}"


def work_from_a_terminal_elsewhere(tmp_path: Path, site: Site, address: str, key: str) -> None:
    """It knows the service's address and a key; tests/integration/test_remote_cli.py tries all commands so."""
    cli = Cli(tmp_path / "elsewhere", CRAWLER_API_URL=address, CRAWLER_API_KEY=key)
    project = cli.json("project", "create", "From elsewhere", site.url())["id"]
    cli.json("project", "set", project, "--render", "never", "--delay", "0.02")
    crawl = cli.json("source", "crawl", project, site.url(), "--max-pages", "5")["crawl_id"]
    watched = cli("crawl", "watch", crawl, "--json")
    assert watched.returncode == 0, watched.stderr
    last = json.loads(watched.stdout.splitlines()[-1])
    assert (last["type"], last["data"]["pages_crawled"]) == ("completed", 5)
    exported = cli("export", crawl, "--format", "markdown", "--output", str(tmp_path / "out"))
    assert exported.returncode == 0, exported.stderr
    assert len(list((tmp_path / "out" / "markdown").iterdir())) == 5
    assert cli("crawl", "cancel", crawl).returncode == 5
    assert not cli.data_dir.exists(), "nothing was started or kept where the terminal is"


def test_a_site_is_crawled_over_http_alone_and_from_a_terminal_elsewhere(tmp_path: Path, site: Site) -> None:
    port = free_port()
    cli = Cli(tmp_path / "data", CRAWLER_FLOWER_PORT=str(free_port()), CRAWLER_EGRESS_ALLOW="127.0.0.0/8")
    command = cli.start("up", "--port", str(port))
    watchers: list[subprocess.Popen[str]] = []
    try:
        assert eventually(lambda: get(f"http://127.0.0.1:{port}/api/v1/health/live") == 200, 60)
        curl = Curl(port, (cli.data_dir / "api-key").read_text().strip())
        project = curl("POST", "/projects", 201, json={"name": "Site", "website_url": site.url()})
        key = (cli.data_dir / "api-key").read_text().strip()
        words = (f"ws://127.0.0.1:{port}", project["id"], key, "0")
        watchers.append(subprocess.Popen([sys.executable, WATCH, *words], stdout=subprocess.PIPE, text=True))
        options = {"delay_seconds": 0.1, "render": "never", "max_pages": 100}
        crawl = curl("POST", f"/projects/{project['id']}/phases/crawl/run", 202, json=options)["crawl_id"]
        refused = curl("POST", f"/projects/{project['id']}/phases/crawl/run", 409)
        assert refused["crawl_id"] == crawl
        path = f"/projects/{project['id']}/phases/crawl/status"
        assert eventually(lambda: curl("GET", path)["pages_crawled"] > 3, 60)

        os.kill(service_process(psutil.Process(command.pid)).pid, signal.SIGKILL)
        assert eventually(lambda: get(f"{curl.base}/health/live") == 200, 60), "a dead service comes back"

        assert eventually(lambda: curl("GET", path)["status"] == "completed", 90), curl("GET", path)
        done = curl("GET", path)
        pages = curl("GET", f"/projects/{project['id']}/pages", params={"limit": 200, "status": "success"})["items"]
        assert len(pages) == done["pages_crawled"] >= 30
        assert done["progress"] == 100
        events = [json.loads(line) for line in watchers[0].communicate(timeout=60)[0].splitlines()]
        assert [event["seq"] for event in events] == list(range(events[0]["seq"], events[0]["seq"] + len(events)))
        watched = [event["data"]["url"] for event in events if event["data"].get("status") == "success"]
        assert sorted(watched) == sorted(page["url"] for page in pages), "each once, although the service was killed"
        exported = curl("GET", f"/crawl/{crawl}/export", params={"format": "jsonl"}).splitlines()
        assert {json.loads(line)["url"] for line in exported} >= {page["url"] for page in pages}

        slow = curl("POST", f"/projects/{project['id']}/phases/crawl/run", 202, json={"delay_seconds": 5})["crawl_id"]
        for _ in range(2):
            curl("POST", f"/crawl/{slow}/cancel", 204)
        assert curl("GET", f"/crawl/{slow}")["status"] == "cancelled"
        curl("POST", f"/crawl/{crawl}/cancel", 409)
        time.sleep(0.5)
        asked = len(site.requests())
        time.sleep(2)
        assert len(site.requests()) == asked, "nothing is asked after the cancel"
        told = curl("GET", "/metrics")
        assert f'crawler_pages_total{{reason="",status="success"}} {done["pages_crawled"]}.0' in told

        follow_the_readme(cli, site, port)
        work_from_a_terminal_elsewhere(tmp_path, site, f"http://127.0.0.1:{port}", key)

        began = time.monotonic()
        command.send_signal(signal.SIGTERM)
        output, _ = command.communicate(timeout=45)
        assert command.returncode == 0, output
        assert time.monotonic() - began < 40
        assert str(curl.session.headers["Authorization"]).removeprefix("Bearer ") not in output + cli.logs()
    finally:
        cli.end_all()
        for process in watchers:
            process.kill()


def test_without_keys_only_a_loopback_address_is_bound(tmp_path: Path) -> None:
    refused = Cli(tmp_path)("up", "--no-auth", "--host", "0.0.0.0", "--port", str(free_port()))
    assert refused.returncode == 2
    assert "bind 127.0.0.1" in refused.stderr
