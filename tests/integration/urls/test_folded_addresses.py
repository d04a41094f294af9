"""Addresses that are taken for one page may not lose what only one of them shows."""

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.handmade import page
from tests.integration.live_engine import Engine
from tests.integration.urls.test_query_sites import changed, kept, roles, served, text, told

FRAME = "<p>The register of the old harbour, kept since long ago</p>"


class Register:
    """Lists of boats by many parameters at one path, and a form at the same path by another one."""

    def __init__(self) -> None:
        self.afloat = {n: f"Boat {n} lies at the northern quay, painted and ready" for n in range(1, 9)}
        self.also_listed: list[str] = []

    def __call__(self, path: str, query: dict[str, str]) -> str | None:
        menu = (
            "/boats?:order=-age&:fields=no,name&state=1,2&:as=All+boats",
            "/boats?:order=-age&:fields=no&state=1,2&owner=-1&:as=Without+owner",
            "/boats?:form=find",
        )
        if path == "/":
            return page(*menu, *(f"/boat{n}" for n in self.afloat), title="Register", body=FRAME)
        if path == "/boats" and query.get(":form") == "find":
            fields = "".join(
                f"<p>Give the {what} of the boat that you look for</p>" for what in ("name", "age", "mast")
            )
            return page(*menu, title="Find a boat", body=FRAME + fields)
        if path == "/boats":
            lines = [line for n, line in self.afloat.items() if "owner" not in query or n % 2]
            rows = "".join(f"<tr><td>{line}</td></tr>" for line in lines)
            links = (*(f"/boat{n}" for n in self.afloat), *self.also_listed)
            return page(*menu, *links, title=query.get(":as", "Boats"), body=f"{FRAME}<table>{rows}</table>")
        if path.startswith("/boat") or path in self.also_listed:
            return page(*menu, title=path, body=f"{FRAME}<p>All that is known about {path} is told here</p>")
        return None


def lists(crawler: Engine, crawl: CrawlJob) -> list[str]:
    return [path for path in kept(crawler, crawl) if path.startswith("/boats")]


@pytest.mark.slow
def test_a_page_told_apart_by_another_parameter_hides_no_list(crawler: Engine) -> None:
    site = Register()
    with served(site) as (url, _):
        first = crawler.crawl(url, use_sitemaps=False)
        assert lists(crawler, first) == ["/boats", "/boats?:form=find"]
        assert (
            "`:form` in /boats tells pages apart, so it is kept (titles and texts differ)"
            in first.stats["query_params"]
        )
        second = crawler.again(first)
        assert told(second) == (0, 0, 0)
        site.afloat[4] = "Boat 4 was sold to the fishermen of the southern isles"
        third = crawler.again(second)
        assert changed(third) == ["boats?:order=-age&:fields=no,name&state=1,2&:as=All+boats"]
        site.also_listed = ["/wreck"]
        assert told(crawler.again(third)) == (1, 1, 0), "the wreck, and the list that has it"


class Catalogue:
    """Lists of books by many parameters at one path. The address with the fewest has the list as a table to download;
    only the lists lead to the books."""

    def __init__(self) -> None:
        self.books = {n: f"Book {n} tells of the northern seas in the old days" for n in range(1, 6)}

    def __call__(self, path: str, query: dict[str, str]) -> str | None:
        menu = (
            "/books?do=table&cols=no",
            "/books?order=-age&cols=no,name&state=1,2&as=All+books",
            "/books?order=-age&cols=no&state=1,2&lent=-1&as=Not+lent",
        )
        if path == "/":
            return page(*menu, title="Catalogue", body=FRAME)
        if path == "/books" and "do" in query:
            return "\n".join(("no,name", *(f"{n},{line}" for n, line in self.books.items())))
        if path == "/books":
            rows = "".join(f"<p>{line}</p>" for line in self.books.values())
            return page(*menu, *(f"/book{n}" for n in self.books), title="Books", body=FRAME + rows)
        return page(*menu, title=path, body=f"{FRAME}<p>All that is known about {path} is told here</p>")


@pytest.mark.slow
def test_an_address_that_is_no_page_stands_for_none(crawler: Engine) -> None:
    site = Catalogue()
    with served(site) as (url, _):
        first = crawler.crawl(url, use_sitemaps=False)
        assert {f"/book{n}" for n in site.books} <= set(kept(crawler, first)), "only the lists lead to them"
        second = crawler.again(first)
        assert told(second) == (0, 0, 0)
        site.books[4] = "Book 4 was sold to the fishermen of the southern isles"
        third = crawler.again(second)
        assert changed(third)
        assert told(crawler.again(third)) == (0, 0, 0)


class Guests:
    """A list in three orders, of which the last may become a list of its own."""

    def __init__(self) -> None:
        self.others: list[str] = []
        self.plain = True
        self.by_year = ""

    def __call__(self, path: str, query: dict[str, str]) -> str | None:
        orders = [f"/guests?by={by}" for by in ("name", "town", "year")]
        menu = ("/", *(["/guests"] if self.plain else []), *orders)
        if path == "/":
            return page(*menu, title="Inn", body=FRAME)
        if path == "/guests":
            rows = "".join(f"<p>Guest {n} came over the mountains in the snow</p>" for n in range(6))
            is_last = query.get("by") == "year"
            links = [f"/room/{name}" for name in self.others] if is_last else []
            title, more = ("Guests by year", self.by_year) if self.by_year and is_last else ("Guests", "")
            return page(*menu, *links, title=title, body=FRAME + rows + more)
        return page(*menu, title=path, body=f"<p>What was left in {path} by its guests</p>")


@pytest.mark.slow
def test_what_was_learned_is_given_up_when_pages_differ(crawler: Engine) -> None:
    site = Guests()
    with served(site) as (url, _):
        first = crawler.crawl(url, use_sitemaps=False)
        assert kept(crawler, first) == ["/", "/guests"]
        assert roles(first) == {"/guests?by": "dropped"}
        site.others = ["attic"]
        second = crawler.again(first)
        assert told(second) == (1, 1, 0), "the attic, and the list that names it"
        assert roles(second) == {"/guests?by": "kept"}
        words = "`by` in /guests tells pages apart, so it is kept (pages that were taken for one differ)"
        assert second.stats["query_params"] == [words]
        site.others.append("cellar")
        third = crawler.again(second)
        assert told(third)[0] == 1
        assert third.change_summary is not None
        assert third.change_summary["removed_page_urls"] == []


@pytest.mark.slow
def test_an_edit_by_which_an_address_becomes_a_page_of_its_own_is_told(crawler: Engine) -> None:
    """It was looked at before, so it is known what stood there."""
    site = Guests()
    with served(site) as (url, _):
        second = crawler.again(crawler.crawl(url, use_sitemaps=False))
        years = ("flood nobody came over the mountains", "fire the inn was closed", "feast all rooms were let twice")
        site.by_year = "".join(f"<p>In the year of the {year}, as the oldest remember</p>" for year in years)
        third = crawler.again(second)
        assert roles(third) == {"/guests?by": "kept"}
        assert changed(third) == ["guests?by=year"]
        assert told(third) == (0, 1, 0)
        texts = crawler.tools.changes.describe.texts(third, 20, 10)
        assert [line.added for text in texts for line in text.lines if line.added and "flood" in line.added]
        assert told(crawler.again(third)) == (0, 0, 0), "and it is told once"


@pytest.mark.slow
def test_what_was_looked_at_without_a_browser_is_not_compared_with_what_one_shows(crawler: Engine) -> None:
    """An address that was taken for another page, and is rendered now that it is one of its own."""
    site = Guests()
    with served(site) as (url, _):
        second = crawler.again(crawler.crawl(url, use_sitemaps=False))
        site.by_year = "".join(f"<p>In the year of the {year} the inn was closed</p>" for year in ("flood", "fire"))
        third = crawler.again(second)
        looked = [f"{url}guests?by=year"]
        assert [*crawler.tools.engine.probes.adopt_looks(third.id, second.id, looked)] == looked
        crawler.rows(
            "UPDATE page_versions SET crawl_method = 'crawl4ai' WHERE id = "
            "(SELECT version_id FROM crawl_discovered_urls WHERE crawl_job_id = :crawl AND url = :url) RETURNING id",
            crawl=third.id,
            url=looked[0],
        )
        assert crawler.tools.engine.probes.adopt_looks(third.id, second.id, looked) == {}


class Lamp:
    """One lamp in three colours, which says the same of each; the time differs with each request."""

    def __init__(self) -> None:
        self.notes: dict[str, str] = {}
        self.edition = "first"
        self._asked = 0

    def __call__(self, path: str, query: dict[str, str]) -> str | None:
        self._asked += 1
        colours = [f"/lamp?colour={colour}" for colour in ("red", "green", "blue")]
        if path == "/":
            return page("/lamp", *colours, title="Lamps", body=FRAME)
        note = f"<p>{self.notes.get(query.get('colour', ''), 'In stock')}</p>"
        words = text(f"the lamp of the {self.edition} edition")
        return page(*colours, title="The lamp", body=f"{words}{note}<p>Asked {self._asked} times</p>")


@pytest.mark.slow
def test_a_few_words_on_one_of_several_addresses_are_told(crawler: Engine) -> None:
    site = Lamp()
    with served(site) as (url, _):
        crawl = crawler.again(crawler.crawl(url, use_sitemaps=False))
        assert (kept(crawler, crawl), roles(crawl)) == (["/", "/lamp"], {"/lamp?colour": "dropped"})
        site.edition = "second"
        crawl = crawler.again(crawl)
        assert (changed(crawl), roles(crawl)) == (["lamp"], {"/lamp?colour": "dropped"}), "the same on all of them"
        site.notes["blue"] = "Sold out"
        crawl = crawler.again(crawl)
        assert roles(crawl) == {"/lamp?colour": "kept"}
        assert (changed(crawl), told(crawl)) == (["lamp?colour=blue"], (0, 1, 0))
        assert told(crawler.again(crawl)) == (0, 0, 0), "once"


@pytest.mark.slow
def test_a_page_that_is_asked_for_by_another_address_is_compared_if_it_is_the_same(crawler: Engine) -> None:
    title = "Prices"
    query = "?from=menu"
    apart = False

    def site(path: str, asked: dict[str, str]) -> str | None:
        if path == "/":
            return page(f"/prices{query}", title="Shop", body=FRAME)
        if path != "/prices":
            return None
        if apart and not asked:
            return page(title="Offers of the week", body="<p>Ropes and sails for less, until Sunday at noon</p>")
        return page(title=title, body=f"{FRAME}<p>{title}: a rope costs seven crowns here</p>")

    with served(site) as (url, _):
        first = crawler.crawl(url, use_sitemaps=False)
        title, query = "New prices", "?from=top"
        second = crawler.again(first)
        assert changed(second) == ["", "prices?from=top"], "another address and title, but both addresses show it"
        query, apart = "", True
        third = crawler.again(second)
        assert changed(third) == [""], "another page stands there now: it is not compared with this one"
        assert "/prices?from=top" in kept(crawler, third), "and the one that was watched is watched"
        title = "Newest prices"
        assert changed(crawler.again(third)) == ["prices?from=top"]


@pytest.mark.slow
def test_an_edit_is_told_although_another_page_takes_the_address_that_stood_for_it(crawler: Engine) -> None:
    query, price = "?from=menu", "seven"

    def site(path: str, asked: dict[str, str]) -> str | None:
        if path == "/":
            return page(f"/prices{query}", title="Shop", body=FRAME)
        if path != "/prices":
            return None
        if query == "" and not asked:
            return page(title="Offers of the week", body="<p>Ropes and sails for less, until Sunday at noon</p>")
        return page(title="Prices", body=f"{FRAME}<p>A rope costs {price} crowns here, as it did before</p>")

    with served(site) as (url, _):
        second = crawler.again(crawler.crawl(url, use_sitemaps=False))
        query, price = "", "nine"
        third = crawler.again(second)
        assert changed(third) == ["", "prices?from=menu"]
        assert told(third) == (0, 2, 0)
        assert told(crawler.again(third)) == (0, 0, 0)
