"""A terminal somewhere else: it knows the service's address and a key, and does everything with them."""

import json
from pathlib import Path

from tests.acceptance.cli import Cli
from tests.acceptance.test_up import eventually, free_port, get
from tests.integration.handmade import lay, page
from tests.site.client import Site


def test_a_site_is_crawled_from_a_terminal_that_has_only_an_address_and_a_key(tmp_path: Path) -> None:
    address = f"http://127.0.0.1:{(port := free_port())}"
    server = Cli(tmp_path / "data", CRAWLER_FLOWER_PORT=str(free_port()), CRAWLER_EGRESS_ALLOW="127.0.0.0/8")
    command = server.start("up", "--port", str(port))
    try:
        with Site(tmp_path, hosts=1, pages=5) as site:
            lay(site, {"/": ["/a", "/b"], "/a": page(body="<p>Old words.</p>"), "/b": []})
            assert eventually(lambda: get(f"{address}/api/v1/health/live") == 200, 60), server.logs()
            key = (server.data_dir / "api-key").read_text().strip()
            cli = Cli(tmp_path / "elsewhere", CRAWLER_API_URL=address, CRAWLER_API_KEY=key)
            project = cli.json("project", "create", "Site", site.url())["id"]
            cli.json("project", "set", project, "--render", "never", "--delay", "0.05")

            def crawl(path: str) -> str:
                crawl_id: str = cli.json("source", "crawl", project, site.url(path), "--max-pages", "10")["crawl_id"]
                over = eventually(lambda: cli.json("crawl", "status", crawl_id)["status"] == "completed", 90)
                assert over, cli("crawl", "status", crawl_id).stdout + server.logs()
                return crawl_id

            crawl("/")
            lay(site, {"/": ["/a", "/c"], "/a": page(body="<p>New words.</p>"), "/c": []})
            second = crawl("/")
            assert eventually(lambda: cli.json("changes", second)["state"] == "compared", 30)
            told = cli("changes", second).stdout
            assert f"+ {site.url('/c')}" in told.splitlines()
            assert "+New words." in told.splitlines()
            assert cli("export", second, "--output", str(tmp_path / "out")).returncode == 0
            lines = (tmp_path / "out" / "pages.jsonl").read_text().splitlines()
            assert {json.loads(line)["url"] for line in lines} == {site.url("/"), site.url("/a"), site.url("/c")}
            assert cli("crawl", "cancel", second).returncode == 5
            assert cli("project", "delete", project, "--yes").returncode == 0
            assert cli("crawl", "status", second).returncode == 4
            assert not cli.data_dir.exists(), "nothing was started or kept where the terminal is"
            assert command.poll() is None
    finally:
        server.end_all()
