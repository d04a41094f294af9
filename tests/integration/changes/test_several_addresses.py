"""A page under several addresses is told once; a page that moved is told as moved, whatever its old address says."""

from collections.abc import Mapping
from typing import Any

import pytest

from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

FRAME = "<ul><li>Harbour office</li><li>Timetable of the ferries</li></ul>"


def told(crawl: CrawlJob) -> dict[str, Any]:
    assert crawl.change_summary is not None
    return crawl.change_summary


def short(site: Site, value: Any) -> Any:
    """A part of the summary with paths in place of addresses."""
    if isinstance(value, str):
        return value.removeprefix(site.url(""))
    if isinstance(value, Mapping):
        return {short(site, name): short(site, one) for name, one in value.items()}
    return [short(site, one) for one in value] if isinstance(value, list | tuple) else value


def news(words: str, *, canonical: str = "", noise: str = "", links: tuple[str, ...] = ()) -> str:
    head = f'<link rel="canonical" href="{canonical}">' if canonical else ""
    return page(*links, title="News of the harbour", head=head, body=f"{FRAME}<p>{words}</p>{noise}")


def others(site: Site, number: int = 6) -> list[str]:
    """Pages of other texts, so that nothing is an edit of the template."""
    paths = [f"/other/{n}" for n in range(number)]
    lay(site, {path: page(title=path, body=f"{FRAME}<p>All about {path} and {path}.</p>") for path in paths})
    return paths


def test_one_change_under_three_addresses_is_told_once(crawler: Engine, site: Site) -> None:
    links = ("/", "/start.asp", "/start.asp/print", *others(site))
    lay(site, {path: news("Closed.", links=links) for path in links[:3]})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    assert first.pages_crawled == 9
    lay(site, {path: news("Open again.", links=links) for path in links[:3]})
    second = crawler.again(first)
    assert second.pages_crawled == 9, "every address is fetched and stays in the ledger"
    assert short(site, told(second)["changed_page_urls"]) == ["/"]
    assert short(site, told(second)["also_at"]) == {"/": ["/start.asp", "/start.asp/print"]}
    assert told(second)["summary"]["changed_pages"] == 1
    assert told(second)["template_changes"] == []
    texts = crawler.tools.changes.describe.texts(second, 20, 10)
    assert [(short(site, text.url), short(site, text.also_at)) for text in texts] == [
        ("/", ["/start.asp", "/start.asp/print"])
    ]


@pytest.mark.slow
def test_of_two_copies_of_which_one_changed_that_one_is_told(crawler: Engine, site: Site) -> None:
    links = ("/a", "/b", *others(site))
    lay(site, {"/": links, "/a": news("Closed."), "/b": news("Closed.")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/b": news("Open again.")})
    second = crawler.again(first)
    assert short(site, told(second)["changed_page_urls"]) == ["/b"]
    assert told(second)["also_at"] == {}
    lay(site, {"/a": news("Open again."), "/b": news("Closed for ever.")})
    third = crawler.again(second)
    assert short(site, told(third)["changed_page_urls"]) == ["/a", "/b"], "each says something else"


def test_the_canonical_address_is_the_one_that_is_told(crawler: Engine, site: Site) -> None:
    """Also for a print view that says the same in another frame."""
    copies = ("/p/1", "/print/1/page-of-the-harbour")
    lay(site, {"/": (*copies, *others(site))})

    def write(words: str) -> None:
        lay(
            site,
            {
                "/p/1": page(
                    title="Print",
                    body=f"<p>{words}</p>",
                    head='<link rel="canonical" href="/print/1/page-of-the-harbour">',
                )
            },
        )
        lay(site, {copies[1]: news(words, canonical=copies[1])})

    write("Closed.")
    first = crawler.crawl(site.url(), use_sitemaps=False)
    write("Open again.")
    second = crawler.again(first)
    assert short(site, told(second)["also_at"]) == {copies[1]: ["/p/1"]}
    assert short(site, told(second)["changed_page_urls"]) == [copies[1]]


def test_copies_are_known_for_copies_though_each_names_the_time_it_was_made(crawler: Engine, site: Site) -> None:
    links = ("/a", "/b", *others(site))

    def write(words: str, seconds: str) -> None:
        made = "<p>Page generated in {} seconds</p>"
        lay(
            site,
            {"/a": news(words, noise=made.format(seconds)), "/b": news(words, noise=made.format(seconds[:-1] + "7"))},
        )

    lay(site, {"/": links})
    write("Closed.", "0.031")
    first = crawler.crawl(site.url(), use_sitemaps=False)
    write("Open again.", "0.042")
    second = crawler.again(first)
    assert short(site, told(second)["changed_page_urls"]) == ["/a"]
    assert short(site, told(second)["also_at"]) == {"/a": ["/b"]}


@pytest.mark.slow
def test_copies_are_known_for_copies_though_what_is_new_on_them_has_an_age(crawler: Engine, site: Site) -> None:
    links = ("/", "/latest", "/latest/print", *others(site))
    lay(site, {path: news("Closed.", links=links) for path in links[:3]})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    for age, path in zip((2, 3, 2), links[:3], strict=True):
        comment = f"<p>The ferry is late again, says Anna.</p><p>{age} seconds ago</p>"
        lay(site, {path: news("Closed.", noise=comment, links=links)})
    second = crawler.again(first)
    assert short(site, told(second)["also_at"]) == {"/": ["/latest", "/latest/print"]}
    assert short(site, told(second)["changed_page_urls"]) == ["/"]


@pytest.mark.slow
def test_a_new_page_and_its_further_addresses_are_one_new_page(crawler: Engine, site: Site) -> None:
    lay(site, {"/": others(site)})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/": ["/n", "/n/print", *others(site)], "/n": news("New.", canonical="/n")})
    lay(site, {"/n/print": news("New.", canonical="/n")})
    second = crawler.again(first)
    assert short(site, told(second)["new_page_urls"]) == ["/n"]
    lay(site, {"/": ["/n", "/n/print", "/n/mail", *others(site)], "/n/mail": news("New.", canonical="/n")})
    third = crawler.again(second)
    assert told(third)["new_page_urls"] == [], "one more address of a page that is known"
    for path in ("/n", "/n/print", "/n/mail"):
        site.remove(path)
    fourth = crawler.again(third)
    assert short(site, told(fourth)["removed_page_urls"]) == ["/n"]
    assert short(site, told(fourth)["also_at"]) == {"/n": ["/n/mail", "/n/print"]}


def story(of: str = "harbour", *, edit: str = "") -> str:
    numbers = ("first", "second", "third", "last")
    told = "".join(f"<p>The {n} of the {of} tells how {n} boats of the {of} were built and sold.</p>" for n in numbers)
    return page(title=f"Boats of the {of}", body=f"{FRAME}{told}{edit}")


def sign(words: str) -> str:
    return page(title=words, body=f"{FRAME}<h1>{words}</h1>")


def refresh(target: str) -> str:
    head = f'<meta http-equiv="refresh" content="0; url={target}">'
    return page(title="Moved", head=head, body="<p>It is elsewhere now.</p>")


OLD_ADDRESSES = ("404", "301", "says-so", "refresh", "in-its-text")
"""What the old address of a page says after it was renamed."""


@pytest.mark.quick(1)
@pytest.mark.parametrize("edit", ["", "<p>And one more boat was sunk.</p>"], ids=["as-it-was", "edited"])
def test_a_page_that_was_renamed_is_told_once_as_moved(crawler: Engine, site: Site, edit: str) -> None:
    """Its old address is still linked."""
    rest = others(site, 12)
    moves = {f"/old/{old}": f"/new/{old}" for old in OLD_ADDRESSES}
    towns = dict(zip(OLD_ADDRESSES, ("Aberdeen", "Bergen", "Cadiz", "Dieppe", "Exeter"), strict=True))
    lay(site, {"/": [*moves, *rest]})
    lay(site, {f"/old/{old}": story(town) for old, town in towns.items()})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    linking = page(*moves, *moves.values(), title="/other/0", body=f"{FRAME}<p>All about /other/0 and /other/0.</p>")
    lay(site, {"/other/0": linking, **{f"/new/{old}": story(town, edit=edit) for old, town in towns.items()}})
    site.remove("/old/404")
    site.set_fault("/old/301", redirect="/new/301", status=301)
    lay(site, {"/old/says-so": sign("This page does not exist"), "/old/refresh": refresh("/new/refresh")})
    named = "<p>The page in-its-text does not exist. You can create it here.</p>"
    lay(site, {"/old/in-its-text": page(title="in-its-text", body=f"{FRAME}{named}")})
    second = crawler.again(first)
    assert {short(site, move["from"]): short(site, move["to"]) for move in told(second)["moved"]} == moves
    assert told(second)["new_page_urls"] == told(second)["removed_page_urls"] == []
    assert short(site, told(second)["changed_page_urls"]) in ([], ["/other/0"])
    for move in told(second)["moved"]:
        added = [line["added"] for line in move.get("edits", [])]
        assert added == (["And one more boat was sunk."] if edit else []), move["from"]


@pytest.mark.slow
def test_a_page_that_only_says_that_it_is_gone_is_removed(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/old", *others(site)], "/old": story()})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/old": sign("Page not found")})
    second = crawler.again(first)
    assert short(site, told(second)["removed_page_urls"]) == ["/old"]
    assert told(second)["changed_page_urls"] == []
    third = crawler.again(second)
    assert told(third)["removed_page_urls"] == [], "told once"
    lay(site, {"/old": story()})
    assert short(site, told(crawler.again(third))["changed_page_urls"]) == ["/old"]


@pytest.mark.slow
def test_a_site_that_says_so_of_most_of_its_pages_has_an_error(crawler: Engine, site: Site) -> None:
    lay(site, {"/": [*others(site)]})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {f"/other/{n}": sign("Page not found") for n in range(5)})
    second = crawler.again(first)
    assert told(second)["removed_page_urls"] == []
    assert told(second)["changed_page_urls"] == []
    assert len(told(second)["not_compared_urls"]) == 5
    others(site)
    third = crawler.again(second)
    assert told(third)["changed_page_urls"] == told(third)["new_page_urls"] == []


def test_one_product_in_place_of_another_is_no_move(crawler: Engine, site: Site) -> None:
    """What they have in common is what every product has."""

    def product(name: str) -> str:
        fields = "".join(
            f"<p>{line}</p>"
            for line in ("Free delivery within three days", "Thirty days to send it back", "Add to your basket here")
        )
        return page(title=f"{name} | Shop", body=f"<h1>{name}</h1>{fields}<p>The {name} is made of {name} wood.</p>")

    names = [f"/p/{n}" for n in range(5)]
    lay(site, {"/": names, **{path: product(f"Oak {path}") for path in names}})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    site.remove("/p/0")
    lay(site, {"/": [*names[1:], "/p/9"], "/p/9": product("Elm lamp")})
    second = crawler.again(first)
    assert told(second)["moved"] == []
    assert short(site, told(second)["new_page_urls"]) == ["/p/9"]
    assert short(site, told(second)["removed_page_urls"]) == ["/p/0"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "wall",
    [
        page(title="Harbour", body=f"{FRAME}<h1>Closed</h1><p>Please log in.</p><form><input type=password></form>"),
        page(title="Error", body="<h1>Service temporarily unavailable</h1>"),
    ],
    ids=["sign-in", "error"],
)
def test_a_page_that_is_gone_is_not_back_when_the_site_is_closed_nor_gone_again_when_it_opens(
    crawler: Engine, site: Site, wall: str
) -> None:
    links = ("/a", *others(site))
    words = "<p>When the boats leave, and what they carry from here to the islands.</p>"
    home = page(*links, title="All boats", body=f"{FRAME}{words}")
    lay(site, {"/": home, "/a": news("Closed on Mondays and on Tuesdays, but for the fish market.")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/a": page(title="a [Harbour]", body=f"{FRAME}<h1>This page does not exist</h1>")})
    second = crawler.again(first)
    assert short(site, told(second)["removed_page_urls"]) == ["/a"]
    lay(site, dict.fromkeys(("/", *links), wall))
    third = crawler.again(second)
    others(site)
    lay(site, {"/": home, "/a": page(title="a [Harbour]", body=f"{FRAME}<h1>This page does not exist</h1>")})
    for crawl in (third, crawler.again(third)):
        kinds = ("new", "changed", "removed")
        assert [short(site, told(crawl)[f"{kind}_page_urls"]) for kind in kinds] == [[], [], []]
