"""Pages behind a sign-in: declared steps sign in, their session reads pages, and what fails is said."""

from collections.abc import Iterator
from uuid import UUID

import pytest

from crawler.adapters.browser.fetcher import BrowserFetcher
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.page_steps import login_steps
from crawler.domain.hosts.logins import Login, LoginState, StoredLogin
from crawler.domain.reasons import Reason
from crawler.handlers.hosts.manage_logins import checked_login
from tests.integration.browser.driving import VICTIM, asked, fetch
from tests.integration.browser.login_site import PASSWORD, USER, LoginSite, login_site
from tests.integration.browser.two_lanes import TwoLanes

SECRETS = {"user": USER, "password": PASSWORD}


@pytest.fixture
def site() -> Iterator[LoginSite]:
    with login_site() as served:
        yield served


def give_login(engine: TwoLanes, site: LoginSite, *, signed_in: str = "", **more: object) -> UUID:
    project = engine.project(site.url("/"), render="auto", screenshots=False, delay_seconds=0, use_sitemaps=False)
    order = {"steps": site.steps(), "signed_in": signed_in, "secrets": SECRETS, **more}
    engine.tools.projects.logins.set(project.id, site.url("/"), checked_login(order))
    return project.id


def crawl(engine: TwoLanes, project_id: UUID) -> CrawlJob:
    return engine.run(engine.start(engine.tools.store.get_project(project_id)), seconds=90)


def login_of(engine: TwoLanes, project_id: UUID) -> StoredLogin:
    (found,) = engine.tools.projects.logins.list(project_id)
    return found


def test_pages_are_read_signed_in_and_the_session_is_kept(two_lanes: TwoLanes, site: LoginSite) -> None:
    project_id = give_login(two_lanes, site)
    first = crawl(two_lanes, project_id)
    assert two_lanes.ends(first) == {"/": "done", "/a": "done"}
    assert (site.signed, login_of(two_lanes, project_id).state) == (1, LoginState.SIGNED_IN)
    texts = two_lanes.rows("SELECT content_text FROM crawled_pages WHERE project_id = :id", id=project_id)
    assert all(f"Hello, {USER}" in row["content_text"] for row in texts)
    second = crawl(two_lanes, project_id)
    assert two_lanes.ends(second) == {"/": "done", "/a": "done"}
    assert site.signed == 1, "the session of the crawl before still holds"
    kept = two_lanes.rows("SELECT * FROM project_logins WHERE project_id = :id", id=project_id)
    assert PASSWORD not in str(kept)
    assert "s1" not in str(kept[0]["session"])


SEEN = "<script>if (!document.cookie.includes('seen=')) {{ document.cookie = 'seen={}'; location.reload() }}</script>"


@pytest.mark.slow
def test_redis_holds_no_session_and_no_cookie_in_plain_text(
    two_lanes: TwoLanes, site: LoginSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that sets a cookie and loads itself again is asked for once more, with the cookie."""
    written: list[str] = []
    command = two_lanes.tools.redis.connection_pool.connection_class.pack_command
    site.pages["/a"] = f"Ropes {SEEN.format('tasty')}"
    project_id = give_login(two_lanes, site)

    def noted(self: object, *args: object) -> object:
        written.append(repr(args))
        return command(self, *args)

    monkeypatch.setattr(two_lanes.tools.redis.connection_pool.connection_class, "pack_command", noted)
    first = crawl(two_lanes, project_id)
    assert two_lanes.ends(first) == {"/": "done", "/a": "done"}
    asked_with = [request.headers.get("cookie", "") for request in site.requests("/a")]
    assert "member=s1" in asked_with[0]
    assert sorted(asked_with[1].split("; ")) == ["member=s1", "seen=tasty"]
    notes = [one for one in written if "visit" in one and "cookies" in one and "HSET" in one]
    assert notes, "the cookie was kept"
    assert not [one for one in written if '"member"' in one or "tasty" in one]


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("ways", "signed_in"),
    [(("redirect", "401", "form"), ""), pytest.param(("form",), "#hello", marks=pytest.mark.long)],
)
def test_a_session_that_is_over_is_renewed_however_the_site_says_so(
    two_lanes: TwoLanes, site: LoginSite, ways: tuple[str, ...], signed_in: str
) -> None:
    site.asks_by = ways[0]
    project_id = give_login(two_lanes, site, signed_in=signed_in)
    crawl(two_lanes, project_id)
    for signed, asks_by in enumerate(ways, 2):
        site.asks_by = asks_by
        site.sessions.clear()
        again = crawl(two_lanes, project_id)
        assert two_lanes.ends(again) == {"/": "done", "/a": "done"}, asks_by
        assert site.signed == signed, asks_by
        assert (again.change_summary or {}).get("changed_page_urls") == [], asks_by


@pytest.mark.slow
def test_a_session_that_ends_within_a_crawl_is_renewed(two_lanes: TwoLanes, site: LoginSite) -> None:
    site.pages["/"] = "<a href=/a>A</a><a href=/b>B</a>"
    site.uses["s1"] = 2  # the page after the sign-in, and one more
    project_id = give_login(two_lanes, site)
    ended = crawl(two_lanes, project_id)
    assert two_lanes.ends(ended) == {"/": "done", "/a": "done", "/b": "done"}
    assert site.signed == 2


@pytest.mark.slow
def test_a_login_that_fails_is_told_and_not_repeated_in_the_crawl(two_lanes: TwoLanes, site: LoginSite) -> None:
    project_id = give_login(two_lanes, site)
    crawl(two_lanes, project_id)
    site.sessions.clear()
    site.accepts = False
    failed = crawl(two_lanes, project_id)
    assert failed.status == "failed"
    assert "still asks to sign in" in str(failed.error_message)
    login = login_of(two_lanes, project_id)
    assert (login.state, login.session_at) == (LoginState.FAILED, None)
    assert "still asks to sign in" in str(login.problem)
    assert [request.method for request in site.server.requests].count("POST") == 2  # type: ignore[union-attr]
    assert PASSWORD not in str(failed) + str(login)


@pytest.mark.slow
def test_a_session_that_is_lost_and_cannot_be_had_again_is_failing_and_removes_nothing(
    two_lanes: TwoLanes, site: LoginSite
) -> None:
    site.pages["/"] = "<a href=/a>A</a><a href=/b>B</a>"
    project_id = give_login(two_lanes, site)
    crawl(two_lanes, project_id)
    site.uses["s1"], site.accepts = 1, False
    blind = crawl(two_lanes, project_id)
    summary = blind.change_summary or {}
    assert (summary["removed_page_urls"], summary["changed_page_urls"]) == ([], [])
    assert (summary["coverage"]["failing"], summary["coverage"]["code"]) == (True, "credentials_expired")
    reasons = two_lanes.rows("SELECT reason FROM crawl_discovered_urls WHERE crawl_job_id = :id", id=blind.id)
    assert sorted(str(row["reason"]) for row in reasons) == ["login", "login", "unchanged"]
    assert [request.method for request in site.server.requests].count("POST") == 2  # type: ignore[union-attr]


@pytest.mark.slow
def test_what_a_site_keeps_in_the_browser_is_part_of_the_session(two_lanes: TwoLanes, site: LoginSite) -> None:
    site.pages["/"] = (
        "<p id=told></p><script>localStorage.theme ??= 'dark'; told.textContent = localStorage.seen</script>"
    )
    site.pages["/"] += "<script>localStorage.seen = 'seen before'</script>"
    project_id = give_login(two_lanes, site)
    crawl(two_lanes, project_id)
    rows = two_lanes.rows("SELECT content_text FROM crawled_pages WHERE project_id = :id", id=project_id)
    assert "seen before" in rows[0]["content_text"]


@pytest.mark.slow
def test_a_login_dials_nothing_that_may_not_be_dialled(browser: BrowserFetcher, site: LoginSite) -> None:
    with login_site(VICTIM) as inside:
        steps = login_steps([f"open {inside.url('/entrance')}", *site.steps()[1:]])
        result = fetch(browser, site.url("/"), login=Login(site.url("/").rstrip("/"), steps, secrets=SECRETS))
        assert asked(inside.server) == []  # type: ignore[arg-type]
    assert (result.failure, result.session, result.login_problem) == (Reason.EGRESS, "", "")
    assert PASSWORD not in repr(result)


@pytest.mark.slow
def test_a_login_that_loops_is_said_so(two_lanes: TwoLanes, site: LoginSite) -> None:
    site.uses |= {f"s{n}": 1 for n in range(1, 9)}
    project_id = give_login(two_lanes, site)
    failed = crawl(two_lanes, project_id)
    assert failed.status == "failed"
    assert "again and again" in str(login_of(two_lanes, project_id).problem)
    assert site.signed == 3


@pytest.mark.slow
@pytest.mark.parametrize(
    "more",
    ["<p>What is seven and two?</p><input name=answer>", "<iframe src=http://127.0.0.2:1/check></iframe>"],
    ids=["a question", "a part of another site"],
)
def test_a_login_that_asks_for_more_is_said_so(two_lanes: TwoLanes, site: LoginSite, more: str) -> None:
    site.more, site.accepts = more, False
    project_id = give_login(two_lanes, site)
    failed = crawl(two_lanes, project_id)
    assert failed.status == "failed"
    assert "perhaps a captcha" in str(login_of(two_lanes, project_id).problem)


@pytest.mark.slow
def test_an_outage_says_nothing_about_the_login(two_lanes: TwoLanes, site: LoginSite) -> None:
    project_id = give_login(two_lanes, site)
    site.down = True
    crawl(two_lanes, project_id)
    found = login_of(two_lanes, project_id)
    assert (found.state, found.problem) == (LoginState.UNTRIED, "Signing in could not be tried: HTTP 500.")


@pytest.mark.slow
def test_a_login_page_that_nobody_serves_says_nothing_about_the_login(browser: BrowserFetcher, site: LoginSite) -> None:
    with login_site() as gone:
        steps = login_steps([f"open {gone.url('/entrance')}", *site.steps()[1:]])
    result = fetch(browser, site.url("/"), login=Login(site.url("/").rstrip("/"), steps, secrets=SECRETS))
    assert (result.failure, result.login_problem) == (Reason.CONNECT, "")
    assert "Connect call failed" in result.error


@pytest.mark.slow
def test_secrets_are_filled_in_only_where_the_login_leads(two_lanes: TwoLanes, site: LoginSite) -> None:
    with login_site() as stranger:
        stranger.accepts = False
        stranger.asks_by = "form"
        steps = site.steps()
        steps[0] = f"open {site.url('/entrance')}"
        site.more = f"<meta http-equiv=refresh content='0; url={stranger.url('/entrance')}'>"
        project_id = give_login(two_lanes, site, steps=steps)
        crawl(two_lanes, project_id)
        assert "/entrance" in asked(stranger.server)  # type: ignore[arg-type]
        assert not any(request.method == "POST" for request in stranger.server.requests)  # type: ignore[union-attr]
    assert "of an origin that no 'open' names" in str(login_of(two_lanes, project_id).problem)


@pytest.mark.slow
def test_a_page_that_leads_elsewhere_while_a_field_is_awaited_takes_no_secret_along(
    two_lanes: TwoLanes, site: LoginSite
) -> None:
    """A browser's own waiting for a field that is shut goes on in the next page, whoever it belongs to."""
    with login_site() as stranger:
        stranger.accepts = False
        stranger.asks_by = "form"
        leads_there = f"<meta http-equiv=refresh content='7; url={stranger.url('/entrance')}'>"
        site.more = f"{leads_there}<input type=password name=key disabled>"
        project_id = give_login(two_lanes, site)
        crawl(two_lanes, project_id)
        assert "/entrance" in asked(stranger.server)  # type: ignore[arg-type]
        assert not any(request.method == "POST" for request in stranger.server.requests)  # type: ignore[union-attr]
    assert login_of(two_lanes, project_id).state == LoginState.FAILED


@pytest.mark.slow
def test_a_login_can_be_tried(two_lanes: TwoLanes, site: LoginSite) -> None:
    project_id = give_login(two_lanes, site)
    two_lanes.tools.projects.logins.try_now(project_id, site.url("/"))
    two_lanes.shift()
    two_lanes.shift()
    assert login_of(two_lanes, project_id).state == LoginState.SIGNED_IN
    assert site.signed == 1
