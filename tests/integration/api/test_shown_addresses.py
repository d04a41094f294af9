"""Addresses of webhooks: whole for keys that may write, without what follows the origin for those that only read."""

from typing import Any
from uuid import UUID

import pytest

from crawler.domain.api_keys import ApiKey, Scope
from crawler.domain.ids import new_id
from crawler.domain.notices.notice import Channel, NoticeKind, Target
from crawler.entrypoints.http.cookie_session import COOKIE
from tests.integration.api.conftest import Service

HOOK = "https://hooks.example.org:8443/T0KEN/of?somebody=s3cret"
SHOWN = "https://hooks.example.org:8443/***"
MAIL = "ops@example.org"


@pytest.fixture
def project(service: Service) -> str:
    """A project with a webhook at every place that has one."""
    identity = str(service.project()["id"])
    schedule = {"frequency": "daily", "notification_webhook": HOOK}
    assert service("PUT", f"/projects/{identity}/schedule", json=schedule).json()["notification_webhook"] == HOOK
    for channel, address in (("webhook", HOOK), ("email", MAIL)):
        made = service("POST", f"/projects/{identity}/recipients", json={"channel": channel, "address": address}).json()
        assert made["address"] == address
    tools = service.engine.tools
    crawl = tools.crawls.start(UUID(identity))
    for number, target in enumerate((Target(Channel.WEBHOOK, HOOK), Target(Channel.WEBHOOK, HOOK, 7))):
        now = new_id(1_700_000_000_000 + number)
        assert tools.notices.notifications.claim(now, UUID(identity), crawl.id, NoticeKind.CHANGES, target, {})
    return identity


def seen(service: Service, project: str) -> list[str]:
    """Addresses that the API shows."""
    where = f"/projects/{project}"
    listed = service.get(f"{where}/recipients")["items"]
    one = [service.get(f"{where}/recipients/{each['id']}") for each in listed]
    assert one == listed
    assert all(each["address"] in each["described"] for each in listed)
    sent = [each["target"] for each in service.get("/notifications")["items"]]
    return [service.get(f"{where}/schedule")["notification_webhook"], *(each["address"] for each in listed), *sent]


def test_only_who_may_write_sees_more_than_the_origin(service: Service, project: str) -> None:
    for scope in (Scope.WRITE, Scope.ADMIN):
        assert seen(service.as_(scope), project) == [HOOK, HOOK, MAIL, HOOK, HOOK]
    assert seen(service.as_(Scope.READ), project) == [SHOWN, SHOWN, MAIL, SHOWN, SHOWN]


@pytest.mark.slow
def test_the_dashboard_shows_the_same(service: Service, project: str) -> None:
    rooms = [f"/projects/{project}/schedule", f"/projects/{project}/recipients", "/notifications"]
    notices = service.get("/notifications")["items"]
    rooms += [f"/notifications/{one['id']}" for one in notices]
    for scope, is_whole in ((Scope.WRITE, True), (Scope.READ, False)):
        browser = signed_in(service, scope)
        for room in rooms:
            shown = browser(room)
            assert ("T0KEN" in shown, "s3cret" in shown, SHOWN in shown) == (is_whole, is_whole, not is_whole), room


def test_who_may_only_read_cannot_find_the_rest_by_searching(service: Service, project: str) -> None:
    for search, found in (("T0KEN", False), ("s3cret", False), ("hooks.example", True), ("Example", True)):
        assert (SHOWN in signed_in(service, Scope.READ)(f"/notifications?q={search}")) == found, search
    assert "T0KEN/of" in signed_in(service, Scope.WRITE)("/notifications?q=T0KEN")


def test_monitors_and_jobs_at_the_other_door_show_the_same(service: Service) -> None:
    at_door: dict[str, Any] = {"webhook": {"url": HOOK, "headers": {"X-Key": "s3cret"}}}
    monitor = {"name": "M", "schedule": {"text": "hourly"}, "targets": [{"type": "scrape", "urls": ["http://a.test/"]}]}
    made = door(service, "POST", "/monitor", {**monitor, **at_door})["data"]
    assert made["webhook"]["url"] == HOOK
    door(service, "POST", "/crawl", {"url": "http://a.test/", **at_door})
    for scope, shown in ((Scope.WRITE, HOOK), (Scope.READ, SHOWN)):
        caller = service.as_(scope)
        hooks = [
            door(caller, "GET", f"/monitor/{made['id']}")["data"]["webhook"],
            door(caller, "GET", "/monitor")["data"][0]["webhook"],
            door(caller, "GET", "/crawl/active")["crawls"][0]["options"]["webhook"],
        ]
        assert [one["url"] for one in hooks] == [shown] * 3
        assert "s3cret" not in str(hooks).replace(HOOK, "")


def door(service: Service, method: str, path: str, body: Any = None) -> Any:
    headers = {"Authorization": f"Bearer {service.secret}"}
    answer = service.client.request(method, f"/v2{path}", headers=headers, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def signed_in(service: Service, scope: Scope) -> Any:
    tools = service.engine.tools
    key, _ = ApiKey.issue(name="browser", scope=scope, now=tools.clock())
    tools.store.add_key(key)
    token = tools.operating.sessions.open(key.id)

    def look(path: str) -> str:
        answer = service.client.get(path, headers={"Cookie": f"{COOKIE}={token}"})
        assert answer.status_code == 200, answer.text
        return answer.text

    return look
