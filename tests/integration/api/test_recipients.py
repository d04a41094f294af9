"""Recipients over HTTP."""

from typing import Any
from uuid import UUID

import pytest

from tests.integration.api.conftest import Service

OPS = {"channel": "email", "address": "ops@example.org", "form": "daily", "quiet_hours": ["22:00", "07:00"]}


def test_a_recipient_is_added_shown_muted_and_removed(service: Service) -> None:
    path = f"/projects/{service.project()['id']}/recipients"
    made = service("POST", path, json=OPS)
    assert made.status_code == 201, made.text
    recipient = made.json()
    assert recipient["described"].startswith(
        "ops@example.org: told of significant changes, every day at 08:00 (UTC), quiet from"
    )
    assert service("POST", path, json=OPS).json() == recipient, "the same twice is one"
    assert service.get(path)["items"] == [recipient]
    muted = service("PUT", f"{path}/{recipient['id']}", json={**OPS, "muted_until": "2026-12-01T00:00:00Z"}).json()
    assert muted["muted_until"] == "2026-12-01T00:00:00Z"
    assert service.get(f"{path}/{recipient['id']}") == muted
    assert service("DELETE", f"{path}/{recipient['id']}").status_code == 204
    for method, body in (("GET", None), ("PUT", OPS), ("DELETE", None)):
        assert service(method, f"{path}/{recipient['id']}", json=body).status_code == 404


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"address": "nobody"}, "name@example.org"),
        ({"channel": "webhook", "address": "http://10.1.2.3/x"}, "may not be reached"),
        ({"timezone": "Mars/Base"}, "time zone"),
        ({"conditions": {"of": ["whenever"]}}, "a condition reads like"),
        ({"body_template": "{{"}, "no template"),
        ({"extra": 1}, "extra"),
    ],
)
def test_a_wrong_recipient_is_refused_with_a_sentence(service: Service, change: dict[str, Any], words: str) -> None:
    answer = service("POST", f"/projects/{service.project()['id']}/recipients", json={**OPS, **change})
    assert answer.status_code == 422
    assert words in answer.text


def test_a_page_is_muted_and_told_again(service: Service) -> None:
    path, page = f"/projects/{service.project()['id']}/mutes", {"page": "https://example.org/news"}
    first = service("POST", path, json={**page, "until": "2036-01-01T00:00:00Z"})
    assert first.status_code == 201, first.text
    longer = service("POST", path, json={**page, "until": "2037-01-01T00:00:00Z"}).json()
    assert service.get(path)["items"] == [longer], "in place of the other"
    assert service("POST", path, json={**page, "until": "2020-01-01T00:00:00Z"}).status_code == 422
    whole = service("POST", path, json={"until": "2036-01-01T00:00:00Z"})
    assert (whole.status_code, "its muted_until" in whole.text) == (422, True)
    assert service("DELETE", f"{path}/{longer['id']}").status_code == 204
    assert service("DELETE", f"{path}/{longer['id']}").status_code == 404


def test_only_a_rule_of_the_project_is_muted(service: Service) -> None:
    project, other = (f"/projects/{service.project(name=name)['id']}" for name in ("One", "Other"))
    own, foreign = (
        service("POST", f"{path}/watch-rules", json={"watch": [".price"]}).json()["id"] for path in (project, other)
    )
    until = "2036-01-01T00:00:00Z"
    for rule in (foreign, str(UUID(int=7))):
        refused = service("POST", f"{project}/mutes", json={"rule": rule, "until": until})
        assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
    assert service.get(f"{project}/mutes")["items"] == []
    assert service("POST", f"{project}/mutes", json={"rule": own, "until": until}).status_code == 201
