"""A service behind a part of many pages fails, and the server writes one line in its place: pages, crawl by crawl."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import pytest

from crawler.adapters.postgres.retention import Pruner, Retention
from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.documents.test_documents import said
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

NAMES = ("kettle", "lamp", "chair", "bowl", "spoon", "rug", "clock", "bench", "vase", "stool", "desk", "shelf")

OTHERS = ["/about", "/help", "/news"]
FAILED = "<p class=failed>Could not get reviews</p>"
Reviews = Mapping[str, Sequence[str]]


VERBS = ("boils", "shines", "creaks", "holds", "bends", "fades", "ticks", "wobbles", "leaks", "folds", "locks", "sags")
WHEN = ("at night", "in winter", "on Sundays", "after lunch", "in the rain", "by the sea", "at our school",
        "in the car", "for guests", "on the roof", "with soap", "near the fire")  # fmt: skip
REVIEWS = {
    name: [f"Mine {verb} {when}, but we like it a lot", f"It never {verb} here, and my sister bought three"]
    for name, verb, when in zip(NAMES, VERBS, WHEN, strict=True)
}


def lay_shop(
    site: Site,
    reviews: Reviews = REVIEWS,
    failed: Sequence[str] = (),
    part: str = FAILED,
    foot: str = "Call 1000",
    folder: str = "/shop",
    shelf: int = 0,
    **prices: int,
) -> None:
    products = [f"{folder}/{name}" for name in NAMES]
    lay(site, {"/": page(*products, *OTHERS, title="Shop", body="<p>All that we sell, and some news of the shop.</p>")})
    for path in OTHERS:
        lay(site, {path: page(title=path, body=f"<p>What there is to know of {path[1:]}, in a few words.</p>")})
    for at, name in enumerate(NAMES):
        entries = "".join(f"<li>{one}</li>" for one in reviews.get(name, ()))
        below = part if name in failed else f"<ul class=reviews>{entries}</ul>"
        text = f"<h1>{name.title()}</h1><p class=text>A {name} of oak, made by hand in the house number {at}.</p>"
        text += f"<p class=shelf>Shelf {7 * at + shelf} of the hall</p>" if shelf else ""
        body = f"{text}<p class=price>{prices.get(name, 10 + at)}.50 EUR</p><h2>Reviews</h2><div>{below}</div>{foot}"
        lay(site, {f"{folder}/{name}": page(title=f"{name.title()} – Shop", body=body)})


def summary(crawl: CrawlJob) -> dict[str, Any]:
    assert crawl.change_summary is not None
    return crawl.change_summary


def changed(crawl: CrawlJob) -> list[str]:
    return [url.rpartition("/")[2] for url in summary(crawl)["changed_page_urls"]]


def told(crawler: Engine, crawl: CrawlJob) -> list[tuple[str | None, str | None]]:
    return [(line.removed, line.added) for page in crawler.tools.changes.digest(crawl.id) for line in page.lines]


def test_a_part_that_fails_for_one_crawl_is_not_told_and_what_was_edited_meanwhile_is(
    crawler: Engine, site: Site
) -> None:
    lay_shop(site)
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay_shop(site, failed=NAMES)
    failed = crawler.again(first)
    assert (changed(failed), summary(failed)["template_changes"]) == ([], [])
    (note,) = summary(failed)["wall_notes"]
    assert (note["kind"], note["pages"]) == ("part", len(NAMES))
    assert summary(failed)["not_compared_urls"] == []

    new = {**REVIEWS, "lamp": ["A new voice: the lamp is far too dim", *REVIEWS["lamp"]], "rug": REVIEWS["rug"][:1]}
    lay_shop(site, new, vase=99)
    back = crawler.again(failed)
    assert (changed(back), summary(back)["template_changes"]) == (["lamp", "rug", "vase"], [])
    assert told(crawler, back) == [
        (None, "A new voice: the lamp is far too dim"),
        (REVIEWS["rug"][1], None),
        (f"{10 + NAMES.index('vase')}.50 EUR", "99.50 EUR"),
    ]
    assert summary(back)["wall_notes"] == []
    assert changed(crawler.again(back)) == []


def test_what_stands_there_in_the_third_crawl_is_told_once(crawler: Engine, site: Site) -> None:
    lay_shop(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay_shop(site, failed=NAMES)
    found = []
    for _ in range(5):
        crawl = crawler.again(crawl)
        found.append(len(changed(crawl)))
    assert found == [0, 0, len(NAMES), 0, 0]


@pytest.mark.slow
def test_what_it_is_compared_with_stays_however_few_versions_are_kept(crawler: Engine, site: Site) -> None:
    lay_shop(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay_shop(site, failed=NAMES)
    found = []
    prune = Pruner(crawler.tools.database, Retention(request_log_days=1, keep_versions=1, keep_crawl_days=1))
    for _ in range(4):
        crawl = crawler.again(crawl)
        found.append(len(changed(crawl)))
        later = crawler.tools.clock() + timedelta(days=2)
        assert prune(later, dry_run=True).versions == prune(later).versions
    assert found == [0, 0, len(NAMES), 0]
    assert crawler.rows("SELECT count(*) AS n FROM page_versions")[0]["n"] == len(crawler.ends(crawl))


def test_another_edit_of_such_a_page_is_told_at_once_and_nothing_twice(crawler: Engine, site: Site) -> None:
    lay_shop(site)
    crawl = crawler.again(crawler.crawl(site.url(), use_sitemaps=False))
    lay_shop(site, failed=NAMES, vase=99)
    crawl = crawler.again(crawl)
    assert changed(crawl) == ["vase"]
    assert ("18.50 EUR", "99.50 EUR") in told(crawler, crawl)
    lay_shop(site, failed=NAMES, vase=99, desk=77)
    crawl = crawler.again(crawl)
    assert changed(crawl) == ["desk"]
    lay_shop(site, vase=99, desk=77)
    assert changed(crawler.again(crawl)) == ["desk", "vase"], "what was told of them is over"


@pytest.mark.parametrize(
    "part", ["<p class=left>Sold out</p>", "<p class=failed>Could not get reviews</p>"], ids=["edit", "failure"]
)
def test_the_same_line_on_some_of_the_pages_that_have_the_part_is_told(crawler: Engine, site: Site, part: str) -> None:
    lay_shop(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay_shop(site, failed=NAMES[:6], part=part)
    crawl = crawler.again(crawl)
    assert changed(crawl) == sorted(NAMES[:6])


@pytest.mark.parametrize("text", ["{} left", "Open from {} to 18:00", "{}.00 EUR"])
def test_one_line_in_place_of_numbers_is_told(crawler: Engine, site: Site, text: str) -> None:
    numbers = {name: [text.format(at + 3)] for at, name in enumerate(NAMES)}
    lay_shop(site, numbers)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay_shop(site, numbers, failed=NAMES, part="<p>Sold out</p>")
    found = summary(crawler.again(crawl))
    assert found["wall_notes"] == []
    edits = [change for change in found["template_changes"] if change["removed"]]
    assert len(found["changed_page_urls"]) == len(NAMES) or [edit["pages"] for edit in edits] == [len(NAMES)]


def test_a_page_that_cannot_be_seen_meanwhile_is_compared_with_what_it_was(crawler: Engine, site: Site) -> None:
    lay_shop(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay_shop(site, failed=NAMES)
    crawl = crawler.again(crawl)
    site.set_fault("/shop/lamp", status=403)
    crawl = crawler.again(crawl)
    site.mend()
    lay_shop(site, {**REVIEWS, "lamp": REVIEWS["lamp"][:1]})
    crawl = crawler.again(crawl)
    assert changed(crawl) == ["lamp"]
    assert told(crawler, crawl) == [(REVIEWS["lamp"][1], None)]


@pytest.mark.slow
def test_edits_of_the_template_are_told_once_beside_a_part_that_failed(crawler: Engine, site: Site) -> None:
    lay_shop(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    found = []
    for failed, foot in ((NAMES, "Call 2000"), (NAMES, "Call us at 2000"), ((), "Call us at 2000")):
        lay_shop(site, failed=failed, foot=foot)
        crawl = crawler.again(crawl)
        found.append((changed(crawl), [edit["added"] for edit in summary(crawl)["template_changes"]]))
    assert found == [([], ["Call 2000"]), ([], ["Call us at 2000"]), ([], [])]


@pytest.mark.parametrize("back_at", [2, 3])
def test_an_edit_of_the_template_that_is_taken_back_beside_such_a_part_is_told(
    crawler: Engine, site: Site, back_at: int
) -> None:
    lay_shop(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    found = []
    for number, failed in enumerate((NAMES, NAMES, (), ()), 1):
        lay_shop(site, failed=failed, foot="Call 2000" if number < back_at else "Call 1000")
        crawl = crawler.again(crawl)
        assert changed(crawl) == []
        found.append([(edit["removed"], edit["added"]) for edit in summary(crawl)["template_changes"]])
    assert found[0] == [("Call 1000", "Call 2000")]
    assert found[back_at - 1] == [("Call 2000", "Call 1000")]
    assert sum(map(len, found)) == 2


@pytest.mark.slow
def test_so_is_one_that_is_taken_back_on_one_page_alone(crawler: Engine, site: Site) -> None:
    lay_shop(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay_shop(site, failed=NAMES, foot="Call 2000")
    crawl = crawler.again(crawl)
    lay_shop(site, foot="Call 2000")
    text = f"<h1>Lamp</h1><p class=text>A lamp of oak, made by hand in the house number {NAMES.index('lamp')}.</p>"
    entries = "".join(f"<li>{one}</li>" for one in REVIEWS["lamp"])
    below = f"<p class=price>11.50 EUR</p><h2>Reviews</h2><div><ul class=reviews>{entries}</ul></div>Call 1000"
    lay(site, {"/shop/lamp": page(title="Lamp – Shop", body=text + below)})
    crawl = crawler.again(crawl)
    assert (changed(crawl), told(crawler, crawl)) == (["lamp"], [("Call 2000", "Call 1000")])


@pytest.mark.slow
def test_values_of_each_page_that_moved_beside_such_a_part_are_told_once(crawler: Engine, site: Site) -> None:
    lay_shop(site, shelf=1)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    found = []
    for failed in (NAMES, NAMES, ()):
        lay_shop(site, failed=failed, shelf=4)
        crawl = crawler.again(crawl)
        found.append((changed(crawl), len(summary(crawl)["template_changes"])))
    assert found == [([], 1), ([], 0), ([], 0)]


@pytest.mark.slow
def test_pages_that_move_with_such_a_part_say_what_they_show_now(crawler: Engine, site: Site) -> None:
    lay_shop(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    lay_shop(site, failed=NAMES)
    crawl = crawler.again(crawl)
    lay_shop(site, failed=NAMES, folder="/goods")
    for at, name in enumerate(NAMES):
        site.set_fault(f"/shop/{name}", **({"redirect": f"/goods/{name}"} if at % 2 else {"status": 404}))
    moves = summary(crawler.again(crawl))["moved"]
    assert [move["edits"] for move in moves] == [[{"removed": None, "added": "could not get reviews"}]] * len(NAMES)


@pytest.mark.slow
def test_a_document_says_what_the_page_said_before_the_part_failed(crawler: Engine, site: Site) -> None:
    lay_shop(site)
    crawl = crawler.crawl(site.url(), use_sitemaps=False, ingest=True)
    crawler.tools.documents.ingest()
    before = said(crawler, crawl, "/shop/lamp")
    assert REVIEWS["lamp"][0] in before[-1][1]
    lay_shop(site, failed=NAMES)
    for _ in range(2):
        crawl = crawler.again(crawl)
        crawler.tools.documents.ingest()
        assert said(crawler, crawl, "/shop/lamp") == before
    lay_shop(site, {**REVIEWS, "lamp": ["It is dim"]})
    crawl = crawler.again(crawl)
    crawler.tools.documents.ingest()
    assert "It is dim" in said(crawler, crawl, "/shop/lamp")[-1][1]
