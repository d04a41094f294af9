"""Schedules over HTTP."""

from typing import Any
from uuid import UUID

import pytest

from crawler.adapters.notices.schedule_store import ScheduleStore
from crawler.domain.api_keys import Scope
from crawler.domain.crawls.crawl import CrawlType
from crawler.domain.ids import new_id
from crawler.domain.notices.notice import Channel, NoticeKind, Target
from crawler.domain.notices.schedule import Schedule
from tests.integration.api.conftest import Service

WEEKLY = {
    "enabled": True,
    "frequency": "weekly",
    "day_of_week": 0,
    "time": "09:30",
    "timezone": "America/New_York",
    "notify_on_changes": True,
    "notification_email": "ops@example.org",
    "notification_webhook": "https://hooks.example.org/crawl",
}


def test_a_schedule_is_set_shown_and_disabled(service: Service) -> None:
    path = f"/projects/{service.project()['id']}/schedule"
    assert service("GET", path).status_code == 404
    made = service("PUT", path, json=WEEKLY).json()
    assert {name: made[name] for name in WEEKLY} == WEEKLY
    assert made["described"] == "every Monday at 09:30 (America/New_York)"
    assert made["upcoming"][0] == made["next_run_at"]
    assert len(made["upcoming"]) == 5
    assert service.get(path) == made
    off = service("PUT", path, json={**WEEKLY, "enabled": False}).json()
    assert (off["enabled"], off["next_run_at"], off["time"]) == (False, None, "09:30")


def test_a_project_that_is_deleted_while_its_schedule_is_set_is_not_found(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = service.project()["id"]
    save = ScheduleStore.save

    def delete_first(store: ScheduleStore, schedule: Schedule) -> Schedule:
        assert service("DELETE", f"/projects/{project}").status_code == 204
        return save(store, schedule)

    monkeypatch.setattr(ScheduleStore, "save", delete_first)
    refused = service("PUT", f"/projects/{project}/schedule", json=WEEKLY)
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")


def test_run_now_starts_a_scheduled_crawl_and_a_second_is_refused(service: Service) -> None:
    project = service.project()["id"]
    started = service("POST", f"/projects/{project}/schedule/run-now")
    assert started.status_code == 202
    crawl = service.engine.tools.store.get_crawl(UUID(started.json()["crawl_id"]))
    assert crawl.crawl_type is CrawlType.SCHEDULED
    again = service("POST", f"/projects/{project}/schedule/run-now")
    assert (again.status_code, again.json()["code"]) == (409, "crawl_running")


@pytest.mark.slow
@pytest.mark.quick(6)
@pytest.mark.parametrize(
    "wrong",
    [
        {"frequency": "weekly"},
        {"frequency": "monthly", "day_of_month": 31},
        {"frequency": "daily", "time": "25:00"},
        {"frequency": "daily", "timezone": "Mars/Base"},
        {"frequency": "cron", "cron": "every day"},
        {"frequency": "daily", "notification_email": "nobody"},
        {"frequency": "daily", "notification_webhook": "gopher://x/"},
        {"frequency": "daily", "notification_webhook": "http://169.254.169.254/latest/meta-data"},
        {"frequency": "daily", "notification_webhook": "http://user:password@example.org/"},
        {"frequency": "daily", "notification_urls": ["json://example.org/"]},
        {"frequency": "daily", "notification_urls": ["slack://a"] * 11},
        {"frequency": "daily", "notify_after_failures": -1},
        {"frequency": "cron", "cron": "*/0 * * * *"},
        {"frequency": "daily", "window": ["09:00", "9"]},
        {"frequency": "daily", "jitter_minutes": 1000},
        {"frequency": "daily", "colour": "red"},
        {},
    ],
)
def test_nonsense_is_refused_and_nothing_is_kept(service: Service, wrong: dict[str, Any]) -> None:
    path = f"/projects/{service.project()['id']}/schedule"
    answer = service("PUT", path, json=wrong)
    assert answer.status_code == 422, answer.text
    assert service("GET", path).status_code == 404


@pytest.mark.slow
def test_channels_with_secrets_are_shown_masked_and_masks_keep_them(service: Service) -> None:
    project = service.project()["id"]
    path, secret = f"/projects/{project}/schedule", "AbCdEfGh12345678"
    url = f"gotify://push.example.org/{secret}"
    made = service("PUT", path, json={**WEEKLY, "notification_urls": [url]})
    assert made.status_code == 200, made.text
    shown = service("GET", path)
    assert secret not in made.text + shown.text
    again = service(
        "PUT", path, json={**WEEKLY, "time": "10:00", "notification_urls": shown.json()["notification_urls"]}
    )
    assert again.json()["notification_urls"] == shown.json()["notification_urls"]
    assert service.engine.tools.notices.schedules.notification_urls(UUID(project)) == (url,)
    refused = service("PUT", path, json={**WEEKLY, "notification_urls": [f"nonsense://{secret}"]})
    assert (refused.status_code, secret in refused.text) == (422, False)


def test_a_reader_may_look_and_not_touch_and_a_stranger_sees_nothing(service: Service) -> None:
    project = service.project()["id"]
    path = f"/projects/{project}/schedule"
    service("PUT", path, json=WEEKLY)
    assert service.as_(Scope.READ)("GET", path).status_code == 200
    assert service.as_(Scope.READ)("PUT", path, json=WEEKLY).status_code == 403
    other = service.project(name="Other")["id"]
    assert service.as_(Scope.WRITE, other)("GET", path).status_code == 404


def test_notifications_are_listed_by_who_may_see_them_and_sent_again_under_the_same_id(service: Service) -> None:
    tools = service.engine.tools
    project, other = service.project()["id"], service.project(name="Other")["id"]
    crawl = tools.crawls.start(UUID(project))
    identity = new_id(1_700_000_000_000)
    payload = {"event": "crawl_completed"}
    hook = "http://169.254.169.254/"
    assert tools.notices.notifications.claim(
        identity, UUID(project), crawl.id, NoticeKind.CHANGES, Target(Channel.WEBHOOK, hook), payload
    )
    (shown,) = service.get("/notifications")["items"]
    assert (shown["id"], shown["status"], shown["target"]) == (str(identity), "sending", hook)
    assert service.as_(Scope.READ, other).get("/notifications")["items"] == []
    path = f"/notifications/{identity}/resend"
    assert service.as_(Scope.WRITE, other)("POST", path).status_code == 404
    sent = service("POST", path).json()
    assert (sent["id"], sent["status"], sent["sends"]) == (str(identity), "blocked", 1)
    assert service("POST", f"/notifications/{UUID(int=3)}/resend").status_code == 404
    known = service("POST", f"/notifications/{identity}/acknowledge").json()
    assert known["acknowledged_at"] is not None
    assert service("POST", f"/notifications/{identity}/acknowledge").json() == known, "the first moment counts"
    assert service("POST", f"/notifications/{UUID(int=3)}/acknowledge").status_code == 404


def test_notifications_can_be_asked_for_by_project_and_only_of_projects_the_key_sees(service: Service) -> None:
    tools = service.engine.tools
    ids = [UUID(service.project(name=name)["id"]) for name in ("One", "Two")]
    for project in ids:
        crawl, target = tools.crawls.start(project), Target(Channel.WEBHOOK, "https://hooks.example.org/")
        assert tools.notices.notifications.claim(
            new_id(1_700_000_000_000), project, crawl.id, NoticeKind.CHANGES, target, {}
        )
    assert len(service.get("/notifications")["items"]) == 2
    (shown,) = service.get("/notifications", project_id=str(ids[1]))["items"]
    assert shown["project_id"] == str(ids[1])
    reader = service.as_(Scope.READ, str(ids[0]))
    assert len(reader.get("/notifications", project_id=str(ids[0]))["items"]) == 1
    assert reader("GET", f"/notifications?project_id={ids[1]}").status_code == 404
    assert service("GET", f"/notifications?project_id={UUID(int=7)}").status_code == 404
    assert service("GET", "/notifications?project_id=nonsense").status_code == 422


def test_history_rows_are_the_seeds(service: Service) -> None:
    project = service.project()["id"]
    service("POST", f"/projects/{project}/schedule/run-now")
    (row,) = service.get(f"/projects/{project}/crawl-history")["items"]
    view = service.engine.rows("SELECT * FROM crawl_history")
    seed = {
        "id", "project_id", "crawl_type", "started_at", "completed_at", "status", "pages_crawled", "change_summary",
        "error_message",
    }  # fmt: skip
    assert set(row) == set(view[0]) == seed
    assert (row["crawl_type"], row["status"], row["change_summary"]) == ("scheduled", "pending", None)
