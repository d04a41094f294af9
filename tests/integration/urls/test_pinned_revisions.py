"""Pages to which only links to their revisions lead: whatever becomes of these addresses, an edit is told."""

import pytest

from tests.integration.handmade import page
from tests.integration.live_engine import Engine
from tests.integration.urls.test_query_sites import FRAME, served, text, told

pytestmark = pytest.mark.slow

NAMES = ["boats", "ropes", "sails", "tides", "fish", "crews"]


class Journal:
    """Each page has one revision at first. A list of changes is the only page that links to them."""

    def __init__(self, *, rewritten: bool) -> None:
        self._rewritten = rewritten
        self.revisions = dict.fromkeys(NAMES, 1)

    def __call__(self, path: str, query: dict[str, str]) -> str | None:
        if path == "/":
            return page("/journal", title="Start", body=FRAME)
        if path == "/journal":
            entries = [f"/page/{name}?rev={n}" for name, last in self.revisions.items() for n in range(1, last + 1)]
            return page(*entries, title="Journal", body=FRAME)
        name = path.removeprefix("/page/")
        if name not in NAMES:
            return None
        number = int(query.get("rev", self.revisions[name]))
        title = f"{name} (revision {number})" if "rev" in query else name
        about = f"{name} in the year {number}" if self._rewritten else name
        return page("/journal", title=title, body=f"{text(about)}<p>Written for the {number}. time by hand</p>")


@pytest.mark.parametrize("rewritten", [False, True])
def test_an_edit_of_a_page_that_is_known_by_a_revision_alone_is_told(crawler: Engine, *, rewritten: bool) -> None:
    site = Journal(rewritten=rewritten)
    with served(site) as (url, _):
        crawl = crawler.again(crawler.crawl(url, use_sitemaps=False))
        for name in ("fish", "ropes"):
            site.revisions[name] = 2
            crawl = crawler.again(crawl)
            assert crawl.change_summary is not None
            news = [*crawl.change_summary["changed_page_urls"], *crawl.change_summary["new_page_urls"]]
            assert [url for url in news if f"/page/{name}" in url]
            assert not [url for url in news if "/page/" in url and name not in url]
            crawl = crawler.again(crawl)
            assert told(crawl) == (0, 0, 0), "once"
