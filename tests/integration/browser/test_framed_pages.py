"""Whole crawls of sites whose server sends the frame of a page and leaves its content to scripts, or does not."""

import pytest

from crawler.domain.reasons import Reason
from tests.integration.browser.driving import pages
from tests.integration.browser.two_lanes import TwoLanes
from tests.integration.raw_server import response

STRANDS = "a rope of three strands holds more than three ropes of one"
PROSE = "".join(f"<p>Line {number}: {STRANDS}.</p>" for number in range(9))
RUN = "<script>window.untouched = true</script>"
LOAD = """<script>fetch('/data' + location.pathname).then(answer => answer.text())
  .then(html => document.querySelector('.story').innerHTML = html)</script>"""


def framed(content: str, links: str = "", script: str = RUN) -> str:
    """Without any landmark: what frames a page is only known from other pages."""
    menu = "".join(f"<a href='{link}'>{link}</a> " for link in ("/", *links.split()))
    about = "Rope and Sail, at the old harbour. Open from nine to five, except on Sundays and holidays. " * 3
    return f"<body><div>{menu}</div>{content}<div>{about}</div>{script}</body>"


def test_content_that_scripts_put_into_the_frame_of_a_light_site_is_stored_and_its_links_are_followed(
    two_lanes: TwoLanes,
) -> None:
    waiting = "<div class=story><p>One moment, please</p></div>"
    story = f"<h1>Knots</h1>{PROSE.replace('rope', 'knot')}<a href='/deep'>deeper</a>"
    content: dict[str, str | bytes] = {
        "/": framed(PROSE, "/plain /story"),
        "/plain": framed(PROSE.replace("rope", "line"), "/plain /story"),
        "/story": framed(waiting, "/plain /story", LOAD),
        "/data/story": response(story.encode()),
        "/deep": framed(PROSE.replace("rope", "sail")),
    }
    with pages(content) as site:
        crawl = two_lanes.crawl(site.url("/"), use_sitemaps=False)
        (page,) = two_lanes.rows("SELECT content_text FROM crawled_pages WHERE url LIKE '%/story'")
    assert two_lanes.methods(crawl) == {
        "/": "lightweight", "/plain": "lightweight", "/story": "crawl4ai", "/deep": "lightweight",
    }  # fmt: skip
    assert "Line 8: a knot of three strands" in page["content_text"]
    assert two_lanes.paths(crawl)["/story"]["rendering"]["signal"] == "frame_only"


def test_full_text_beside_inert_data_and_short_pages_without_scripts_need_no_browser(two_lanes: TwoLanes) -> None:
    data = f"<script type='application/json'>{'[1, 2, 3], ' * 20_000}</script>"
    content = {"/": "<body><p>Hello.</p><a href=/full>full</a></body>", "/full": framed(PROSE + data, "/short")}
    content["/short"] = "<body><p>Soon.</p><script type='application/ld+json'>{}</script></body>"
    with pages(content) as site:
        crawl = two_lanes.crawl(site.url("/"), use_sitemaps=False)
    assert (crawl.pages_crawled, crawl.lightweight, crawl.rendered) == (3, 3, 0)


@pytest.mark.slow
def test_views_behind_a_hash_are_not_lost_without_a_word(two_lanes: TwoLanes) -> None:
    hrefs = ("#/", "#/?id=x", "#/a?id=y", "/#!b", "#part", "/plain", "//x.test/#/a")
    menu = "".join(f'<a href="{href}">{href}</a> ' for href in hrefs)
    app = f"<body><div id=view></div><script>view.innerHTML = `{menu}{PROSE}`</script></body>"
    with pages({"/": app, "/plain": framed(PROSE)}) as site:
        crawl = two_lanes.crawl(site.url("/"), use_sitemaps=False)
        rows = {key: (row["fetch_state"], row["reason"]) for key, row in two_lanes.paths(crawl).items()}
        again = two_lanes.again(crawl, seconds=90)
        told = two_lanes.tools.crawls.explain_url(crawl.id, site.url("/#/a"))
    assert told.reason is Reason.HASH_ROUTE
    assert rows == {
        "/": ("done", None), "/plain": ("done", None),
        "/#/a": ("skipped", "hash_route"), "/#!b": ("skipped", "hash_route"),
    }  # fmt: skip
    assert crawl.stats["by_reason"]["hash_route"] == again.stats["by_reason"]["hash_route"] == 2
    assert "2 views behind a #" in (again.change_summary or {})["coverage"]["sentence"]


@pytest.mark.slow
def test_of_many_short_static_pages_only_some_are_rendered(two_lanes: TwoLanes) -> None:
    notes = [f"/notes/{number}" for number in range(30)]
    content = {"/": framed(PROSE, " ".join(notes))}
    content |= {note: framed(f"<p>Nothing under {note}.</p>") for note in notes}
    with pages(content) as site:
        crawl = two_lanes.crawl(site.url("/"), use_sitemaps=False)
    assert crawl.pages_crawled == 31
    assert 5 <= crawl.rendered <= 15
