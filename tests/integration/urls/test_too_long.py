"""Links that are too long are not followed, and are shown."""

from tests.integration.handmade import asked, lay
from tests.integration.live_engine import Engine
from tests.site.client import Site

LONG = "x" * 9_000


def test_a_link_that_is_too_long_is_shown_with_its_beginning_and_its_parent(crawler: Engine, site: Site) -> None:
    links = [f"/{LONG}", f"{site.url('/abs/')}{LONG}", f"rel/{'y' * 3000}", f"http://me:secret@other.test/{LONG}"]
    lay(site, {"/": [*links, "/a"], "/a": [f"/{LONG}", f"/ä{LONG}"]})
    crawl = crawler.crawl(site.url())
    rows = [row for row in crawler.ledger(crawl).values() if row["reason"] == "too_long"]
    assert crawl.pages_crawled == 2
    assert {(row["fetch_state"], len(row["url"]) <= 2000) for row in rows} == {("skipped", True)}
    starts = sorted(row["url"].removeprefix(site.url("/"))[:9] for row in rows)
    assert starts == ["\\xe4xxxxx", "abs/xxxxx", "http://ot", "rel/yyyyy", "xxxxxxxxx"]
    assert not any("secret" in row["url"] for row in rows)
    assert {row["parent"] for row in rows} == {site.url("/"), site.url("/a")}
    assert crawl.pages_skipped == len(rows) == 5, "one row each, however many pages link to it"
    assert asked(site) == ["/", "/a"]
