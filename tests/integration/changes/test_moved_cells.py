"""A tick that moves to another column of a table: the text of the page stays the same."""

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site


def plans(basic: str, pro: str) -> str:
    rows = f"<tr><td>Backup<td>{basic}<td>{pro}<tr><td>Mail<td>yes<td>yes"
    return page(title="Plans", body=f"<table><tr><th>Plan<th>Basic<th>Pro{rows}</table>")


def told(crawler: Engine, crawl: CrawlJob) -> list[tuple[str | None, str | None]]:
    return [(line.removed, line.added) for page in crawler.tools.changes.digest(crawl.id) for line in page.lines]


def test_what_moved_to_another_column_is_told_once_with_both(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/plans", "/other"], "/plans": plans("yes", ""), "/other": page(title="Other")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/plans": plans("", "yes")})
    second = crawler.again(first)
    assert told(crawler, second) == [("Backup, Basic: yes", None), (None, "Backup, Pro: yes")]
    assert told(crawler, crawler.again(second)) == []
