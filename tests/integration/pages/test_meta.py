"""What a page says about itself and its links, and which fields are kept."""

import pytest

from tests.integration.handmade import asked, lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site


def test_a_canonical_link_is_stored_and_followed_and_the_page_itself_is_kept(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page(head='<link rel="canonical" href="/main">', title="home"), "/main": []})
    crawl = crawler.crawl(site.url())
    assert crawler.ends(crawl) == {"/": "done", "/main": "done"}
    assert crawler.page(crawl, f"{site.port}/")["canonical_url"] == site.url("/main")
    assert crawler.ledger(crawl)[site.url("/main")]["source"] == "canonic"


@pytest.mark.slow
@pytest.mark.parametrize("href", ["http://127.0.0.99:1/elsewhere", "ftp://127.0.0.1/x", "javascript:void(0)"])
def test_a_canonical_link_out_of_scope_is_not_followed(crawler: Engine, site: Site, href: str) -> None:
    lay(site, {"/": page(head=f'<link rel="canonical" href="{href}">')})
    crawl = crawler.crawl(site.url())
    assert crawler.ends(crawl) == {"/": "done"}
    stored = crawler.page(crawl, "/")["canonical_url"]
    assert stored == (href if href.startswith("http") else None)


def test_noindex_is_a_flag_on_a_stored_page(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/by-meta", "/by-header", "/plain"], "/by-header": [], "/plain": [], "/after": []})
    lay(site, {"/by-meta": page("/after", head='<meta name="robots" content="noindex">')})
    site.set_fault("/by-header", headers={"X-Robots-Tag": "noindex"})
    crawl = crawler.crawl(site.url())
    flags = {path: crawler.page(crawl, path)["noindex"] for path in ("/by-meta", "/by-header", "/plain")}
    assert flags == {"/by-meta": True, "/by-header": True, "/plain": False}
    assert crawler.ends(crawl)["/after"] == "done", "noindex does not stop following"


@pytest.mark.usefixtures("without_samples")
def test_nofollow_by_meta_header_or_rel_stops_following_and_nothing_else(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/meta", "/header", "/rel"], "/yes": []})
    lay(site, {"/meta": page("/no/1", head='<meta name="robots" content="nofollow">')})
    lay(site, {"/header": page("/no/2"), "/rel": page("/yes", body='<a rel="nofollow" href="/no/3">x</a>')})
    site.set_fault("/header", headers={"X-Robots-Tag": "nofollow"})
    first = crawler.crawl(site.url())
    expected = dict.fromkeys(("/", "/meta", "/header", "/rel", "/yes"), "done")
    assert crawler.ends(first) == expected
    assert crawler.page(first, "/rel")["links_found"] == [site.url("/no/3"), site.url("/yes")]
    second = crawler.again(first)
    statuses = {url: row["http_status"] for url, row in crawler.ledger(second).items()}
    assert statuses.pop(site.url("/")) == 200, "the homepage is always asked for"
    assert set(statuses.values()) == {304}
    assert crawler.ends(second) == expected, "a page that did not change is still nofollow"


def test_a_link_given_with_and_without_nofollow_is_followed(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page("/a", body='<a rel="nofollow" href="/a">x</a>'), "/a": []})
    assert crawler.ends(crawler.crawl(site.url())) == {"/": "done", "/a": "done"}


def test_links_are_relative_to_the_base(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page("leaf", head='<base href="/deep/down/">'), "/deep/down/leaf": []})
    crawl = crawler.crawl(site.url())
    assert crawler.ends(crawl) == {"/": "done", "/deep/down/leaf": "done"}


def test_the_fields_of_a_page_are_extracted(crawler: Engine, site: Site) -> None:
    body = (
        "<h1>The  heading</h1><script>var no = 1</script><style>.no{}</style><noscript>no</noscript>"
        '<template>no</template><iframe src="//ads.test/frame">no</iframe><p>Seven little words are in this one.</p>'
        '<a href="/a#part">The anchor</a><a href="mailto:x@y.z">mail</a><a href="/a">again</a>'
    )
    head = '<meta name="description" content="What it is about.">'
    lay(site, {"/": page(title="The title", head=head, body=body), "/a": []})
    crawl = crawler.crawl(site.url())
    row = crawler.page(crawl, f"{site.port}/")
    assert (row["title"], row["h1"], row["meta_description"]) == ("The title", "The heading", "What it is about.")
    assert "no" not in row["content_text"].split()
    assert row["word_count"] == len(row["content_text"].split())
    assert row["links_found"] == [site.url("/a")], "an array of URLs, each once"
    assert (row["status"], row["error_message"], row["crawl_method"]) == ("success", None, "lightweight")
    (version,) = crawler.rows("SELECT links FROM page_versions WHERE page_id = :id", id=row["id"])
    assert version["links"] == [{"url": site.url("/a"), "anchor": "The anchor", "rel": ""}]


def test_titles_and_headings_are_cut_at_500_characters(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page(title="t" * 900, body=f"<h1>{'h' * 900}</h1>")})
    row = crawler.page(crawler.crawl(site.url()), "/")
    assert (len(row["title"]), len(row["h1"])) == (500, 500)


def test_urls_of_more_than_2000_characters_are_never_asked_for(crawler: Engine, site: Site) -> None:
    at_limit = "/" + "a" * (2000 - len(site.url("/")))
    lay(site, {"/": [at_limit, at_limit + "a"]})
    crawl = crawler.crawl(site.url())
    assert asked(site) == ["/", at_limit]
    assert crawler.ends(crawl)[at_limit] == "not_found"


def test_the_raw_page_is_kept_once_for_all_pages_with_the_same_bytes(crawler: Engine, site: Site) -> None:
    same = page(title="same")
    lay(site, {"/": ["/a", "/b"], "/a": same, "/b": same})
    crawler.crawl(site.url())
    assert len(crawler.rows("SELECT 1 FROM page_versions")) == 3
    assert len(crawler.rows("SELECT 1 FROM snapshots")) == 2
