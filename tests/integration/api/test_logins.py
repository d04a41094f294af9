"""Logins over HTTP: stored, listed without secrets, tried, removed."""

from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from crawler.adapters.postgres.login_store import LoginStore
from crawler.domain.crawls.frontier import Lane
from crawler.domain.hosts.logins import MOST_SIGN_INS, LoginState
from crawler.domain.ids import new_id
from tests.integration.api.conftest import Service

SECRET = "hunter2-of-the-test"
ORIGIN = "http://example.org"
STEPS = [f"open {ORIGIN}/in", "fill #user from user", "fill #pass from password", "click button"]


def login(**more: Any) -> dict[str, Any]:
    return {"origin": f"{ORIGIN}/a", "steps": STEPS, "secrets": {"user": "me", "password": SECRET}, **more}


def test_one_is_set_listed_without_secrets_and_removed(service: Service) -> None:
    project = service.project()
    path = f"/projects/{project['id']}/logins"
    with capture_logs() as logs:
        made = service("PUT", path, json=login(signed_in=".me"))
        assert made.status_code == 200, made.text
        (shown,) = service.get(path)["items"]
    assert shown == made.json()
    assert (shown["origin"], shown["state"], shown["secrets"]) == (ORIGIN, "untried", ["user", "password"])
    assert SECRET not in str(shown) + str(logs)
    rows = service.engine.rows("SELECT sealed FROM project_logins")
    assert SECRET.encode() not in bytes(rows[0]["sealed"])
    assert service.get(f"/projects/{project['id']}")["settings"]["render"] == "always"
    assert service("DELETE", path, params={"origin": ORIGIN}).status_code == 204
    assert service("DELETE", path, params={"origin": ORIGIN}).status_code == 404


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"steps": ["click a"]}, "begins with"),
        ({"steps": [STEPS[0], f"type {SECRET}"]}, "is no step"),
        ({"secrets": {"user": SECRET}}, "no value for password"),
        ({"signed_in": "a["}, "not closed"),
    ],
)
def test_what_cannot_work_is_refused_without_a_secret(service: Service, wrong: dict[str, Any], words: str) -> None:
    answer = service("PUT", f"/projects/{service.project()['id']}/logins", json=login(**wrong))
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_steps")
    assert words in answer.json()["detail"]


def test_trying_needs_a_browser_and_forgets_the_session(service: Service) -> None:
    project = service.project()
    path, tools = f"/projects/{project['id']}/logins", service.engine.tools
    service("PUT", path, json=login())
    refused = service("POST", f"{path}/try", params={"origin": ORIGIN})
    assert (refused.status_code, "browser" in refused.json()["detail"]) == (409, True)
    tools.operating.live_workers.announce("renderer", ["render"])
    tools.logins.keep(project["id"], ORIGIN, "{}", tools.clock())
    begun = service("POST", f"{path}/try", params={"origin": ORIGIN})
    assert (begun.status_code, begun.json()["state"], begun.json()["session_at"]) == (202, "untried", None)
    assert tools.frontier.due(Lane.BROWSER, 1)[0]


def test_one_page_signs_in_while_others_wait_and_a_failed_login_is_not_repeated_in_the_crawl(service: Service) -> None:
    project_id, tools = service.project()["id"], service.engine.tools
    service("PUT", f"/projects/{project_id}/logins", json=login())
    store: LoginStore = tools.logins
    now, crawl, other = tools.clock(), new_id(1), new_id(2)
    first = store.take_turn(project_id, ORIGIN, crawl, now)
    assert first is not None
    assert first.login is not None
    assert (first.login.session, first.login.secrets["password"]) == ("", SECRET)
    assert SECRET not in repr(first)
    assert store.take_turn(project_id, ORIGIN, crawl, now) == (None, ""), "somebody signs in"
    store.keep(project_id, ORIGIN, '{"cookies": []}', now)
    second = store.take_turn(project_id, ORIGIN, other, now)
    assert second is not None
    assert second.login is not None
    assert (second.login.session, second.login.secrets) == ('{"cookies": []}', {})
    store.lose(project_id, ORIGIN, second.login.session_at)
    assert [one.state for one in store.listed(project_id)] == [LoginState.LOST]
    assert store.take_turn(project_id, ORIGIN, other, now) != (None, "")
    store.fail(project_id, ORIGIN, "Wrong values.")
    assert store.take_turn(project_id, ORIGIN, other, now) == (None, "Wrong values.")
    again = store.take_turn(project_id, ORIGIN, new_id(3), now)
    assert again is not None
    assert again.login is not None, "the next crawl tries again"


def test_sessions_that_end_by_themselves_are_renewed_in_a_long_crawl_and_others_are_a_loop(service: Service) -> None:
    project_id, tools = service.project()["id"], service.engine.tools
    service("PUT", f"/projects/{project_id}/logins", json=login())
    now, crawl, store = tools.clock(), new_id(1), tools.logins

    def signs_in(after: timedelta) -> bool:
        turn = store.take_turn(project_id, ORIGIN, crawl, now + after)
        assert turn is not None
        store.keep(project_id, ORIGIN, "{}", now + after)
        store.lose(project_id, ORIGIN, now + after)
        return turn.login is not None

    assert all(signs_in(timedelta(hours=hours)) for hours in range(8))
    assert [signs_in(timedelta(hours=9, seconds=second)) for second in range(4)] == [True, True, True, False]


def test_a_login_that_could_not_be_tried_says_so_until_somebody_signs_in(service: Service) -> None:
    project_id, tools = service.project()["id"], service.engine.tools
    path = f"/projects/{project_id}/logins"
    service("PUT", path, json=login())
    now, crawl, store = tools.clock(), new_id(1), tools.logins

    def shown() -> tuple[str, str | None]:
        (one,) = service.get(path)["items"]
        return one["state"], one["problem"]

    for _ in range(MOST_SIGN_INS):
        turn = store.take_turn(project_id, ORIGIN, crawl, now)
        assert turn is not None
        assert turn.login is not None, "nothing speaks against the login"
        store.give_up_turn(project_id, ORIGIN, "No answer.")
        assert shown() == ("untried", "No answer.")
    assert store.take_turn(project_id, ORIGIN, crawl, now) == (None, "No answer."), "often enough in one crawl"
    assert shown() == ("failed", "No answer.")
    store.take_turn(project_id, ORIGIN, new_id(2), now)
    store.give_up_turn(project_id, ORIGIN, "No browser.")
    assert shown() == ("failed", "No answer."), "why it failed is worth more"
    store.keep(project_id, ORIGIN, "{}", now)
    assert shown() == ("signed_in", None)
