"""The service over a real engine, and callers with keys of every kind."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from crawler.domain.api_keys import ApiKey, Scope
from tests.integration.live_engine import Engine
from tests.integration.shared_app import shared_app


class Service:
    """A caller with a key of its own; `as_` is another caller of the same service."""

    def __init__(self, client: TestClient, engine: Engine, secret: str) -> None:
        self.client = client
        self.engine = engine
        self.secret = secret

    def as_(self, scope: Scope, *projects: str | UUID) -> "Service":
        ids = tuple(UUID(str(project)) for project in projects) or None
        key, secret = ApiKey.issue(name="test", scope=scope, now=self.engine.tools.clock(), project_ids=ids)
        self.engine.tools.store.add_key(key)
        return Service(self.client, self.engine, secret)

    def __call__(self, method: str, path: str, **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.secret}", **options.pop("headers", {})}
        return self.client.request(method, f"/api/v1{path}", headers=headers, **options)

    def get(self, path: str, **query: Any) -> Any:
        answer = self("GET", path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def project(
        self, url: str | None = "http://example.org/", name: str = "Example", **settings: Any
    ) -> dict[str, Any]:
        answer = self("POST", "/projects", json={"name": name, "website_url": url, "settings": settings})
        assert answer.status_code == 201, answer.text
        made: dict[str, Any] = answer.json()
        return made


@pytest.fixture
def service(crawler: Engine) -> Iterator[Service]:
    key, secret = ApiKey.issue(name="admin", scope=Scope.ADMIN, now=crawler.tools.clock())
    crawler.tools.store.add_key(key)
    with TestClient(shared_app(crawler.tools), raise_server_exceptions=False) as client:
        yield Service(client, crawler, secret)
