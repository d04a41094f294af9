"""How many crawls are open, for who asks."""

import requests

from crawler.domain.api_keys import Scope
from tests.integration.firecrawl.conftest import issued
from tests.integration.live_engine import Engine
from tests.integration.served import served
from tests.site.client import Site


def test_a_key_counts_only_crawls_of_its_projects(crawler: Engine, site: Site) -> None:
    own, other = (crawler.project(site.url(path)) for path in ("/a", "/b"))
    crawler.start(own)
    with served(crawler.tools) as address:

        def counted(*projects: object) -> int:
            headers = {"Authorization": f"Bearer {issued(crawler, Scope.READ, *projects)}"}
            answer = requests.get(f"{address}/v2/team/queue-status", headers=headers, timeout=30)
            return int(answer.json()["jobsInQueue"])

        assert (counted(own.id), counted(other.id), counted()) == (1, 0, 1)
