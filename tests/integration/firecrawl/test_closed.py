"""Doors that are closed by a setting."""

import pytest
import requests

from crawler.domain.api_keys import Scope
from tests.integration.firecrawl.conftest import issued
from tests.integration.live_engine import Engine
from tests.integration.served import served


@pytest.fixture
def engine_settings() -> dict[str, object]:
    return {"firecrawl_door": False, "mcp_door": False}


def test_what_is_closed_is_not_there(crawler: Engine) -> None:
    headers = {"Authorization": f"Bearer {issued(crawler, Scope.ADMIN)}"}
    with served(crawler.tools) as address:
        for path in ("/v2/scrape", "/v2/crawl", "/mcp"):
            body = {"url": "http://example.org/"}
            answer = requests.post(f"{address}{path}", json=body, headers=headers, timeout=30, allow_redirects=False)
            assert answer.status_code >= 300, path
        assert crawler.rows("SELECT 1 FROM crawl_jobs") == []
