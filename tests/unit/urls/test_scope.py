"""Scope: what belongs to a crawl, in which order, by which rule."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.reasons import Reason
from crawler.domain.urls.presets import looks_like_shopify
from crawler.domain.urls.scope import Admission, Refusal, Scope
from crawler.domain.urls.url import UrlRefused, digest, normalize, parse
from crawler.errors import InvalidUrl

SEED = "https://example.com/"


def scope(seed: str = SEED, *, shopify: bool = False, **options: Any) -> Scope:
    return Scope.of(seed, CrawlConfig(**options), shopify)


def judge(where: Scope, raw: str, depth: int = 1) -> Admission | Refusal:
    url = parse(raw, SEED)
    return where.judge(url, normalize(url, where.rule), depth)


def reason(where: Scope, raw: str, depth: int = 1) -> Reason | None:
    verdict = judge(where, raw, depth)
    return verdict.reason if isinstance(verdict, Refusal) else None


def priority(where: Scope, raw: str, depth: int = 1) -> int | None:
    verdict = judge(where, raw, depth)
    return verdict.priority if isinstance(verdict, Admission) else None


# ---- hosts


@pytest.mark.parametrize("seed", ["https://example.com/", "http://www.example.com/shop"])
@pytest.mark.parametrize("host", ["example.com", "www.example.com", "WWW.Example.com.", "example.com:80"])
def test_the_site_is_one_with_or_without_www_and_tls(seed: str, host: str) -> None:
    assert reason(scope(seed), f"http://{host}/a") is None
    assert reason(scope(seed), f"https://{host.removesuffix(':80')}/a") is None


@pytest.mark.parametrize(
    "raw",
    [
        "https://other.example/",
        "https://sub.example.com/",
        "https://badexample.com/",
        "https://example.com.evil.example/",
        "https://example.com:8443/",
        "http://example.com:443/",
        "https://www.www.example.com/",
    ],
)
def test_other_hosts_and_ports_are_off_domain(raw: str) -> None:
    host = parse(raw).host
    assert judge(scope(), raw) == Refusal(Reason.OFF_DOMAIN, f"host {host} is not in scope")


def test_subdomains_are_in_scope_when_asked_for() -> None:
    wide = scope("https://www.example.com/", allow_subdomains=True)
    assert reason(wide, "https://a.b.example.com/x") is None
    assert reason(wide, "https://badexample.com/x") is Reason.OFF_DOMAIN
    assert reason(wide, "https://a.example.com:8080/x") is Reason.OFF_DOMAIN


def test_subdomains_of_a_bare_www_domain_do_not_open_the_top_level() -> None:
    assert reason(scope("https://www.com/", allow_subdomains=True), "https://example.com/") is Reason.OFF_DOMAIN


def test_loopback_sites_on_two_ports_are_two_sites() -> None:
    here = scope("http://127.0.0.1:8001/")
    assert reason(here, "http://127.0.0.1:8001/a") is None
    assert reason(here, "http://127.0.0.1:8002/a") is Reason.OFF_DOMAIN


@pytest.mark.parametrize("written", ["docs.example.org", "Docs.Example.org", "https://docs.example.org/x"])
def test_allowed_hosts_widen_the_scope(written: str) -> None:
    wide = scope(allowed_hosts=(written, "bücher.example:8080"))
    assert reason(wide, "http://docs.example.org/a") is None
    assert reason(wide, "http://xn--bcher-kva.example:8080/a") is None
    assert reason(wide, "http://example.org/a") is Reason.OFF_DOMAIN
    assert reason(wide, "http://sub.docs.example.org/a") is Reason.OFF_DOMAIN


def test_an_unusable_allowed_host_is_an_error_of_the_caller() -> None:
    with pytest.raises(InvalidUrl):
        scope(allowed_hosts=("127.1",))


def test_an_unusable_seed_is_refused() -> None:
    with pytest.raises(UrlRefused):
        scope("ftp://example.com/")


@pytest.mark.slow
@pytest.mark.parametrize("prefix", ["/docs", "docs/", "/Docs/"])
def test_a_path_prefix_narrows_by_whole_segments(prefix: str) -> None:
    narrow = scope("https://example.com/docs/", path_prefix=prefix)
    assert reason(narrow, "/docs") is None
    assert reason(narrow, "/DOCS/a?b") is None
    assert judge(narrow, "/docsy") == Refusal(Reason.OFF_DOMAIN, "path outside '/docs'")
    assert reason(narrow, "/") is Reason.OFF_DOMAIN


# ---- homepage


@pytest.mark.parametrize("raw", ["https://example.com/", "http://www.example.com", "https://example.com/?utm_source=x"])
def test_the_homepage_is_always_admitted_first(raw: str) -> None:
    strict = scope(include_patterns=("/only/",), exclude_patterns=(".*",), path_prefix="/docs", max_depth=1)
    assert judge(strict, raw, depth=9) == Admission(0, "homepage")


def test_a_homepage_below_the_root_is_that_page_only() -> None:
    below = scope("https://example.com/en/")
    assert priority(below, "/en") == 0
    assert priority(below, "/") == 2


# ---- patterns


def test_without_include_patterns_everything_has_the_last_priority() -> None:
    assert judge(scope(preset="none"), "/cart/") == Admission(2, "in scope")


def test_include_only_refuses_what_does_not_match() -> None:
    only = scope(include_patterns=("/blog/", r"[?&]page=\d"))
    assert judge(only, "/blog/a") == Admission(1, "include pattern '/blog/'")
    assert priority(only, "/list?page=2") == 1
    assert judge(only, "/about") == Refusal(Reason.NOT_INCLUDED, "no include pattern matches")


def test_include_prefer_crawls_the_rest_afterwards() -> None:
    prefer = scope(include_patterns=("/blog/",), include_mode="prefer")
    assert priority(prefer, "/blog/a") == 1
    assert priority(prefer, "/about") == 2


def test_exclude_beats_include() -> None:
    both = scope(include_patterns=("/blog/",), exclude_patterns=("/cart/", "draft"))
    assert judge(both, "/blog/draft-1") == Refusal(Reason.EXCLUDED, "exclude pattern 'draft'")
    assert judge(both, "/cart/") == Refusal(Reason.EXCLUDED, "exclude pattern '/cart/'")


def test_patterns_see_the_whole_address_with_its_case() -> None:
    where = scope(exclude_patterns=("^https://example.com/A", "(?i)/SECRET"))
    assert reason(where, "/A") is Reason.EXCLUDED
    assert reason(where, "/a") is None
    assert reason(where, "/secret") is Reason.EXCLUDED


def test_auto_excludes_only_what_no_site_wants_crawled() -> None:
    auto = scope()
    for raw in ("/account/login", "/cart/", "/cart", "/cart?a=1", "/en/checkout/1"):
        assert reason(auto, raw) is Reason.EXCLUDED, raw
    for raw in ("/products/a", "/cartoons/", "/accounts", "/policies/x", "/collections/"):
        assert priority(auto, raw) == 2, raw


@pytest.mark.parametrize("where", [scope(shopify=True), scope(preset="shopify")])
def test_a_shop_is_crawled_by_the_shop_lists(where: Scope) -> None:
    assert judge(where, "/collections/all") == Admission(1, "include pattern '/collections/' of preset shopify")
    assert priority(where, "/pages/about") == 1
    assert reason(where, "/blogs/news") is Reason.NOT_INCLUDED
    for raw in (
        "/products/x",
        "/collections/all/products/x",
        "/account/",
        "/cart",
        "/checkout/",
        "/policies/a",
        "/apps/b",
    ):
        assert reason(where, raw) is Reason.EXCLUDED, raw


def test_given_patterns_replace_the_preset() -> None:
    assert priority(scope(shopify=True, include_patterns=("/products/",)), "/products/x") == 1
    assert priority(scope(shopify=True, exclude_patterns=("/x/",)), "/blogs/cart/") == 2
    assert priority(scope(shopify=True, preset="none"), "/products/x") == 2


# ---- order and depth


def test_the_first_rule_in_order_gives_the_reason() -> None:
    where = scope(path_prefix="/a", exclude_patterns=("xx",), include_patterns=("yy",), max_depth=1)
    trapped = "/r/r/r/xx"
    assert reason(where, f"https://other.example{trapped}", 9) is Reason.OFF_DOMAIN
    assert judge(where, trapped, 9) == Refusal(Reason.OFF_DOMAIN, "path outside '/a'")
    assert judge(where, f"/a{trapped}", 9) == Refusal(Reason.TRAP, "'r' 3 times in a row in the path")
    assert reason(where, "/a/xx", 9) is Reason.EXCLUDED
    assert reason(where, "/a/z", 9) is Reason.NOT_INCLUDED
    assert reason(where, "/a/yy", 9) is Reason.MAX_DEPTH
    assert priority(where, "/a/yy", 1) == 1


def test_depth_counts_links_from_the_seed() -> None:
    where = scope(max_depth=2)
    assert priority(where, "/a", 2) == 2
    assert judge(where, "/a", 3) == Refusal(Reason.MAX_DEPTH, "more than 2 links from the seed")
    assert priority(where, "/a", 1) == 2, "a remembered URL is judged by the depth at hand"
    assert judge(scope(max_depth=0), "/a", 1) == Refusal(Reason.MAX_DEPTH, "no links are followed")
    assert priority(scope(), "/a", 10_000) == 2


# ---- moving


def test_a_homepage_on_another_domain_takes_the_scope_with_it() -> None:
    before = scope(allow_subdomains=True, allowed_hosts=("cdn.example",), include_patterns=("/blog/",))
    assert reason(before, "https://new.example/blog/a") is Reason.OFF_DOMAIN
    after = before.moved_to(parse("https://www.new.example/start"))
    assert priority(after, "http://new.example/start") == 0
    assert priority(after, "https://new.example/blog/a") == 1
    assert reason(after, "https://sub.new.example/blog/a") is None
    assert reason(after, "https://cdn.example/blog/a") is None
    assert reason(after, "https://example.com/blog/a") is Reason.OFF_DOMAIN
    assert reason(before, "https://new.example/blog/a") is Reason.OFF_DOMAIN, "the old scope is unchanged"


def test_a_homepage_that_moves_inside_the_site_only_adds_its_address() -> None:
    before = scope(allow_subdomains=True, include_patterns=("/blog/",))
    assert reason(before, "https://shop.example.com/en") is Reason.NOT_INCLUDED
    after = before.moved_to(parse("https://shop.example.com/en"))
    assert priority(after, "https://shop.example.com/en") == 0
    assert priority(after, "https://example.com/blog/a") == 1
    assert priority(after, SEED) == 0


# ---- fetch-only


def test_a_fetch_only_crawl_takes_exactly_its_list() -> None:
    config = CrawlConfig(exclude_patterns=(".*",), max_depth=1)
    listed = Scope.for_urls(["https://a.example/cart/", "http://b.example/x/x/x", "ftp://c.example/", ""], config)
    assert judge(listed, "https://a.example/CART#x") == Admission(1, "one of the given URLs")
    assert priority(listed, "http://b.example/x/x/x", depth=0) == 1
    assert judge(listed, "https://a.example/", 0) == Refusal(Reason.NOT_INCLUDED, "only the given URLs are fetched")
    assert reason(listed, "https://c.example/") is Reason.OFF_DOMAIN


def test_a_given_url_may_redirect_on_its_own_hosts() -> None:
    listed = Scope.for_urls(["http://a.example/old"], CrawlConfig())
    moved = listed.moved_to(parse("https://www.a.example/new"))
    assert priority(moved, "https://www.a.example/new") == 1
    assert reason(moved, "https://www.a.example/other") is Reason.NOT_INCLUDED
    elsewhere = listed.moved_to(parse("https://b.example/new"))
    assert reason(elsewhere, "https://b.example/new") is Reason.OFF_DOMAIN


def test_an_empty_list_admits_nothing() -> None:
    assert reason(Scope.for_urls([], CrawlConfig()), SEED) is Reason.OFF_DOMAIN


# ---- remembering


def test_a_candidate_is_what_the_single_steps_say() -> None:
    where = scope(max_depth=1)
    for raw, depth in [("/A/?page=2&x=1", 1), ("/a", 2), ("/cart/", 1), ("https://other.example/", 2)]:
        url = parse(raw, SEED)
        key = normalize(url, where.rule)
        for _ in range(2):
            assert where.candidate(url, depth) == (url, key, digest(key), scope(max_depth=1).judge(url, key, depth))


@pytest.mark.slow
def test_what_is_remembered_stays_bounded() -> None:
    where = scope()
    for number in range(20_000):
        where.candidate(parse(f"https://example.com/{number}"), 1)
    assert len(where._known) < 5_000


ANY_SCOPE = [
    scope(),
    scope(shopify=True),
    scope(allow_subdomains=True, path_prefix="/a", include_patterns=("a+",), include_mode="prefer", max_depth=3),
    Scope.for_urls(["https://example.com/a"], CrawlConfig()),
]


@given(st.sampled_from(ANY_SCOPE), st.text(max_size=40), st.booleans(), st.integers(0, 2000))
def test_judging_never_raises_and_always_gives_a_rule(where: Scope, text: str, ours: bool, depth: int) -> None:
    try:
        url = parse(text if ours else f"http://{text}", SEED)
    except UrlRefused:
        return
    verdict = where.judge(url, normalize(url, where.rule), depth)
    assert isinstance(verdict, Admission | Refusal)
    assert verdict.rule


@given(st.lists(st.sampled_from(["a", "b", "1", "2024", "cart", ""]), max_size=25), st.integers(0, 3))
def test_judging_twice_says_the_same(segments: list[str], depth: int) -> None:
    url = parse("https://example.com/" + "/".join(segments))
    fresh, used = scope(max_depth=2), ANY_SCOPE[0]
    key = normalize(url, fresh.rule)
    assert fresh.judge(url, key, depth) == fresh.judge(url, key, depth)
    assert used.judge(url, key, depth) == scope().judge(url, key, depth)


# ---- shops


@pytest.mark.parametrize(
    "html",
    [
        b"<script>var Shopify = Shopify || {};\nShopify.shop = 'x.myshopify.com';</script>",
        b'<meta id="shopify-digital-wallet" name="shopify-digital-wallet" content="/1/digital_wallets/dialog">',
        b"<div id=shopify-section-header class='shopify-section header'>",
        b'<img src="//cdn.shopify.com/s/files/1/x.png"><a href="https://x.myshopify.com/">shop</a>',
        b'<link href="//example.com/cdn/shop/t/1/a.css"><link rel=preconnect href="https://cdn.shopify.com/s/files/1">',
    ],
)
def test_a_shopify_homepage_is_recognised(html: bytes) -> None:
    assert looks_like_shopify(b"<!doctype html><html>" + html)


@pytest.mark.parametrize(
    "html",
    [
        b"",
        b"<h1>How to leave Shopify</h1><p>Export from demo.myshopify.com first.</p>",
        b'<img src="https://cdn.shopify.com/s/files/1/logo.png">',
        b"<code>Shopify.theme</code>",
        b"\xff\x00" * 1000,
    ],
)
def test_a_page_that_mentions_shopify_is_no_shop(html: bytes) -> None:
    assert not looks_like_shopify(html)
