"""The demo site shows what the README promises: three differences between its versions, on loopback only."""

from urllib.parse import urljoin, urlsplit

import pytest
import requests
from selectolax.lexbor import LexborHTMLParser

from crawler.demo import __main__ as demo
from crawler.demo.site import DemoSite


def walk(site: DemoSite) -> dict[str, bytes]:
    """Path to body of every page that can be reached; broken links are told as empty."""
    found: dict[str, bytes] = {}
    waiting = ["/"]
    while waiting:
        path = waiting.pop()
        if path in found or path.startswith("/office/"):
            continue
        answer = requests.get(urljoin(site.url, path), timeout=5)
        found[path] = answer.content if answer.ok else b""
        waiting += [node.attributes["href"] or "" for node in LexborHTMLParser(answer.content).css("a[href]")]
    return found


def test_the_demo_has_a_dozen_pages_and_no_broken_link_in_either_version() -> None:
    with DemoSite() as site:
        first = walk(site)
        site.edit()
        second = walk(site)
    assert len(first) == len(second) == 13
    assert all(first.values())
    assert all(second.values())


def test_an_edit_changes_one_page_adds_one_and_takes_one_away() -> None:
    with DemoSite() as site:
        first = walk(site)
        site.edit()
        second = walk(site)
        gone = requests.get(urljoin(site.url, "/exhibitions/old-maps"), timeout=5)
    both = first.keys() & second.keys()
    assert {path for path in both if first[path] != second[path]} == {"/exhibitions"}
    assert second.keys() - first.keys() == {"/exhibitions/night-walks"}
    assert first.keys() - second.keys() == {"/exhibitions/old-maps"}
    assert gone.status_code == 404


def test_an_unchanged_page_answers_304_to_its_own_tag() -> None:
    with DemoSite() as site:
        tag = requests.get(site.url, timeout=5).headers["ETag"]
        again = requests.get(site.url, headers={"If-None-Match": tag}, timeout=5)
    assert (again.status_code, again.content) == (304, b"")


def test_the_demo_listens_on_loopback_and_asks_robots_to_stay_out_of_the_office() -> None:
    with DemoSite() as site:
        robots = requests.get(urljoin(site.url, "/robots.txt"), timeout=5).text
        assert urlsplit(site.url).hostname == "127.0.0.1"
    assert "Disallow: /office/" in robots


def test_running_the_demo_crawls_edits_the_site_and_crawls_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    def crawl(url: str, options: list[str]) -> int:
        assert options == ["--json"]
        seen.append(requests.get(urljoin(url, "/exhibitions/night-walks"), timeout=5).ok)
        return 0

    monkeypatch.setattr(demo, "_crawl", crawl)
    assert demo.main(["--json"]) == 0
    assert seen == [False, True]


def test_a_failed_first_crawl_ends_the_demo_with_its_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    crawls: list[str] = []

    def crawl(url: str, options: list[str]) -> int:
        crawls.append(url)
        return 3

    monkeypatch.setattr(demo, "_crawl", crawl)
    assert demo.main([]) == 3
    assert len(crawls) == 1
