"""A page that leads elsewhere: the other URL is reported, and not asked for."""

import pytest

from tests.integration.browser.driving import BrowserFetcher, asked, fetch, pages
from tests.integration.raw_server import response

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


def test_a_redirect_to_itself_is_followed_a_few_times(browser: BrowserFetcher) -> None:
    with pages({"/": response(b"", "302 Found", "Location: /")}) as site:
        result = fetch(browser, site.url())
    assert (result.status, result.location) == (302, "/")
    assert len(site.requests) == 5


def test_a_page_that_reloads_itself_for_ever_is_taken_as_it_is(browser: BrowserFetcher) -> None:
    with pages({"/": "<body><p>again</p><script>location.reload()</script></body>"}) as site:
        result = fetch(browser, site.url())
    assert result.failure is None
    assert b"again" in result.body
    assert len(site.requests) == 5


def test_where_a_gap_is_owed_a_page_is_loaded_once_more_at_most(browser: BrowserFetcher) -> None:
    """The reload comes out of turn: enough for a cookie, and no more."""
    with pages({"/": "<p>again</p><script>location.reload()</script>"}) as site:
        result = fetch(browser, site.url(), once=True)
    assert (result.failure, result.status) == (None, 200)
    assert b"<p>again</p>" in result.body
    assert asked(site) == ["/", "/"]
