"""A page that leads elsewhere: the other URL is reported, and not asked for."""

import pytest

from crawler.adapters.browser.fetcher import BrowserFetcher
from tests.integration.browser.driving import answering, asked, fetch, pages
from tests.integration.raw_server import Request, response

pytestmark = pytest.mark.slow

MOVED = response(b"", "301 Moved", "Location: /there?x=1#part")


@pytest.mark.parametrize(
    ("page", "status", "location"),
    [
        pytest.param(MOVED, 301, "/there?x=1#part", id="by the server"),
        pytest.param(
            '<meta http-equiv=refresh content="0; url=/there"><p>x</p>', 302, "{site}/there", id="by a refresh"
        ),
        pytest.param("<p>x</p><script>location = '/there#f'</script>", 302, "{site}/there#f", id="by a script"),
        pytest.param(
            "<p>x</p><script>setTimeout(() => location.replace('/?other=1'), 300)</script>",
            302,
            "{site}/?other=1",
            id="by a late script, to another query",
        ),
        pytest.param(
            "<form action=/there method=post></form><script>document.forms[0].submit()</script>",
            302,
            "{site}/there",
            id="by a form",
        ),
    ],
)
def test_the_other_url_is_reported_and_not_asked_for(
    browser: BrowserFetcher, page: str | bytes, status: int, location: str
) -> None:
    with pages({"/": page, "/there": "<p>there</p>"}) as site:
        result = fetch(browser, site.url())
        here = site.url("")
    assert (result.failure, result.error, result.status, result.body) == (None, "", status, b"")
    assert result.location == location.format(site=here)
    assert result.url == site.url()
    assert asked(site) == ["/"]


@pytest.mark.parametrize(
    "script",
    ["location.hash = 'part'", "history.pushState({}, '', '/?tab=2')", "history.replaceState({}, '', '#/route')"],
)
def test_a_document_that_keeps_its_path_is_the_page(browser: BrowserFetcher, script: str) -> None:
    with pages({"/": f"<body><p>same</p><script>{script}</script></body>"}) as site:
        result = fetch(browser, site.url())
    assert (result.status, result.location) == (200, "")
    assert b"<p>same</p>" in result.body


def test_a_router_that_changes_the_path_redirects(browser: BrowserFetcher) -> None:
    routed = "<body><p>home</p><script>history.replaceState({}, '', '/home')</script></body>"
    with pages({"/": routed}) as site:
        result = fetch(browser, site.url())
    assert (result.status, result.location, result.body) == (302, site.url("/home"), b"")
    assert asked(site) == ["/"]


LOOPS = {
    "by the server": response(b"", "302 Found", "Location: /"),
    "by a script": "<body><p>again</p><script>location.reload()</script></body>",
    "by a late script": "<body><p>again</p><script>setTimeout(() => location.reload(), 200)</script></body>",
    "by assignment": "<body><p>again</p><script>location.href = location.href</script></body>",
    "by a refresh": "<meta http-equiv=refresh content=0><body><p>again</p></body>",
    "by a form": "<body><p>again</p><form method=post></form><script>document.forms[0].submit()</script></body>",
}


@pytest.mark.parametrize("page", LOOPS.values(), ids=LOOPS.keys())
def test_a_page_that_loads_itself_again_is_asked_for_once_in_a_visit(
    browser: BrowserFetcher, page: str | bytes
) -> None:
    with pages({"/": page}) as site:
        result = fetch(browser, site.url())
        assert [request.line for request in site.requests] == ["GET / HTTP/1.1"]
    assert (result.failure, result.again) == (None, "")
    assert (result.status, result.location) == ((302, "/") if isinstance(page, bytes) else (200, ""))
    assert isinstance(page, bytes) or b"<p>again</p>" in result.body


@pytest.mark.parametrize("by", ["script", "server"])
def test_a_page_that_set_a_cookie_and_loads_itself_again_comes_with_it_the_next_time(
    browser: BrowserFetcher, by: str
) -> None:
    def respond(_: object, request: Request) -> bytes:
        if "passed=1" in request.headers.get("cookie", ""):
            return response(b"<p>welcome</p>", "200 OK", "Set-Cookie: seen=1")
        if by == "server":
            return response(b"", "302 Found", "Location: /", "Set-Cookie: passed=1; HttpOnly; SameSite=Lax")
        return response(b"<p>wait</p><script>document.cookie = 'passed=1'; location.reload()</script>", "403 No")

    with answering(respond) as site:
        first = fetch(browser, site.url())
        second = fetch(browser, site.url(), cookies=first.again)
        assert asked(site) == ["/", "/"]
    assert first.status in {302, 403}
    assert "passed" in first.again
    assert (second.status, second.again) == (200, "")
    assert b"welcome" in second.body


def test_cookies_that_changed_nothing_are_no_reason_to_come_again(browser: BrowserFetcher) -> None:
    page = "<p>wait</p><script>document.cookie = 'passed=1'; location.reload()</script>"
    with pages({"/": page}) as site:
        first = fetch(browser, site.url())
        second = fetch(browser, site.url(), cookies=first.again)
    assert first.again
    assert (second.again, second.status) == ("", 200)
    assert b"<p>wait</p>" in second.body
