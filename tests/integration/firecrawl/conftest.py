"""Firecrawl's own Python client against our service, with workers behind it."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from firecrawl import Firecrawl

from crawler.domain.api_keys import ApiKey, Scope
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.integration.served import served
from tests.integration.working import working
from tests.site.client import Site


class Door(NamedTuple):
    engine: Engine
    address: str
    secret: str
    app: Firecrawl

    def as_(self, scope: Scope, *projects: object) -> Firecrawl:
        secret = issued(self.engine, scope, *projects)
        return Firecrawl(api_key=secret, api_url=self.address)


def issued(engine: Engine, scope: Scope, *projects: object) -> str:
    now = engine.tools.clock()
    key, secret = ApiKey.issue(name="k", scope=scope, now=now, project_ids=projects or None)  # type: ignore[arg-type]
    engine.tools.store.add_key(key)
    return secret


@pytest.fixture
def door(crawler: Engine) -> Iterator[Door]:
    secret = issued(crawler, Scope.WRITE)
    with served(crawler.tools) as address, working(crawler):
        yield Door(crawler, address, secret, Firecrawl(api_key=secret, api_url=address))


KETTLES = """<!doctype html><html lang=en><head><title>Kettles</title><meta name=description content="All of them">
<meta property="og:title" content="Kettles!"></head><body><nav><a href="/">Home</a></nav>
<main><h1>Kettles</h1><p class=price>3 €</p><a href="/a">A</a></main></body></html>"""


@pytest.fixture
def shop(site: Site) -> Site:
    """A small site: a homepage, two pages, one that is gone, one that robots.txt forbids."""
    site.set_robots("User-agent: *\nDisallow: /private\n")
    links = ["/kettles", "/a", "/gone", "/private"]
    lay(site, {"/": links, "/kettles": KETTLES, "/a": page(title="A", body="<p>About us</p>"), "/private": page()})
    site.remove("/gone")
    return site
