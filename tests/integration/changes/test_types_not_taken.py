"""Known pages that answer with a type of file that the crawl does not take: nobody saw them, and that is said."""

from collections.abc import Container, Mapping

import pytest

from tests.integration.changes.test_blindness import PATHS, TEXT, article, coverage, paths_of, quiet, told
from tests.integration.handmade import page
from tests.integration.live_engine import Engine
from tests.integration.raw_server import Request, Respond, response, serving

FILE = response(b"\x00\x01 binary", "200 OK", "Content-Type: application/octet-stream")
LISTED = page(*PATHS, title="Home", body=TEXT.format("home"))


def answering(pages: Mapping[str, str], files: Container[str]) -> Respond:
    """A site that sends some of its pages as files."""

    def respond(_: object, request: Request) -> bytes:
        if request.path not in pages:
            return response(b"", "404 Not Found")
        return FILE if request.path in files else response(pages[request.path].encode())

    return respond


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("linked", [True, False])
def test_pages_that_come_as_another_type_of_file_are_said_in_each_run_and_not_forgotten(
    crawler: Engine, linked: bool
) -> None:
    pages = {"/": LISTED, **{path: article(path) for path in PATHS}}
    files: set[str] = set()
    with serving(answering(pages, files)) as site:
        crawl = crawler.crawl(site.url(), use_sitemaps=False)
        files.update(PATHS[:7])
        if not linked:
            pages["/"] = page(*PATHS[7:], title="Home", body=TEXT.format("home"))
        for run in range(2):
            crawl = crawler.again(crawl)
            found = coverage(crawl)
            assert quiet(crawl) or not linked, f"run {run}"
            assert (found["expected"], found["compared"], found["failing"]) == (13, 6, True), f"run {run}"
            assert found["code"] == "another_type", f"run {run}"
            assert "7 came as another type of file" in found["sentence"], f"run {run}"
        files.clear()
        pages["/"], pages["/p1"] = LISTED, article("/p1", edited=True)
        crawl = crawler.again(crawl)
        assert "/p1" in paths_of(told(crawl)["changed_page_urls"])
        assert (told(crawl)["new_page_urls"], coverage(crawl)["failing"]) == ([], False)


@pytest.mark.slow
@pytest.mark.quick(1)
@pytest.mark.parametrize("linked", [True, False])
def test_files_that_the_user_takes_no_more_are_not_missed(crawler: Engine, linked: bool) -> None:
    texts = {f"/{n}.txt": f"Line {n} of this file.\nAnd one more." for n in range(4)}
    home = {"/": page(*texts, title="Home", body=TEXT.format("home"))}

    def respond(_: object, request: Request) -> bytes:
        if request.path in texts:
            return response(texts[request.path].encode(), "200 OK", "Content-Type: text/plain; charset=utf-8")
        return response(home[request.path].encode()) if request.path in home else response(b"", "404 Not Found")

    with serving(respond) as site:
        types = ["text/html", "text/plain"]
        first = crawler.crawl(site.url(), use_sitemaps=False, content_types=types)
        assert first.pages_crawled == 5
        if not linked:
            home["/"] = page(title="Home", body=TEXT.format("home"))
        project = crawler.tools.store.get_project(first.project_id)
        config = {"delay_seconds": 0, "use_sitemaps": False, "content_types": ["text/html"]}
        for run in range(2):
            crawl = crawler.run(crawler.start(project, config=config))
            found = coverage(crawl)
            assert (found["failing"], found["expected"], found["sentence"]) == (False, 1, None), f"run {run}"
            assert told(crawl)["summary"]["removed_pages"] == 0, f"run {run}"


def test_why_a_known_page_was_not_compared_is_explained(crawler: Engine) -> None:
    pages = {"/": page("/a", title="Home", body=TEXT.format("home")), "/a": article("/a")}
    files: set[str] = set()
    with serving(answering(pages, files)) as site:
        first = crawler.crawl(site.url(), use_sitemaps=False)
        pages["/"] = page(title="Home", body=TEXT.format("home"))
        files.add("/a")
        second = crawler.again(first)
        found = crawler.tools.crawls.explain_url(second.id, site.url("/a"))
    assert found.probe is not None
    assert found.probe.words.startswith("alive: it answers (answer 200). It is not a web page but another kind of file")
