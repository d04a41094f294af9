"""The service's doors are shut unless a key opens them, and say so in one shape."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from crawler.bootstrap import build
from crawler.config import load_settings
from crawler.domain.api_keys import ApiKey, Scope
from crawler.entrypoints.api.app import create_app
from tests.databases import MakeDatabase


@pytest.fixture
def service(
    make_migrated_database: MakeDatabase, redis_url: str, tmp_path: Path
) -> Iterator[tuple[TestClient, dict[str, str]]]:
    tools = build(load_settings(database_url=make_migrated_database(), redis_url=redis_url, data_dir=tmp_path))
    key, secret = ApiKey.issue(name="test", scope=Scope.ADMIN, now=tools.clock())
    tools.store.add_key(key)
    with TestClient(create_app(tools)) as client:
        yield client, {"Authorization": f"Bearer {secret}"}
    tools.database.dispose()
    tools.redis.close()


def test_only_the_liveness_probe_is_open(service: tuple[TestClient, dict[str, str]]) -> None:
    client, key = service
    assert client.get("/api/v1/health/live").json() == {"status": "ok"}
    for path in ("/api/v1/health", "/api/v1/metrics", "/api/v1/docs", "/api/v1/openapi.json", "/api/v1/nothing"):
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": key["Authorization"][7:]}):
            refused = client.get(path, headers=headers)
            assert refused.status_code == 401, path
            assert refused.headers["content-type"] == "application/problem+json"
            assert refused.json()["code"] == "unauthorized"
    for path in ("/", "/docs", "/nothing"):
        strayed = client.get(path, headers={"Authorization": "Bearer wrong"}, follow_redirects=False)
        assert (strayed.status_code, strayed.headers["location"].partition("?")[0]) == (303, "/login"), path
    assert client.get("/api/v1/health", headers=key).json()["status"] == "ok"
    assert "crawler_pages" in client.get("/api/v1/metrics", headers=key).text


def test_without_its_database_the_service_says_so(tmp_path: Path) -> None:
    nobody = {"database_url": "postgresql://u:hunter2@127.0.0.1:1/x", "redis_url": "redis://127.0.0.1:1/0"}
    tools = build(load_settings(**nobody, data_dir=tmp_path))
    with TestClient(create_app(tools)) as client:
        assert client.get("/api/v1/health/live").status_code == 200
        answer = client.get("/api/v1/health", headers={"Authorization": "Bearer x"})
    assert answer.status_code == 503
    assert answer.json()["code"] == "database_unavailable"
    assert "hunter2" not in answer.text
