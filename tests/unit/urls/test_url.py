"""URLs: what is refused when it is read, what canonical means, which spellings share a key."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from crawler.domain.crawls.crawl import CrawlConfig, QueryParams
from crawler.domain.reasons import Reason
from crawler.domain.urls.url import (
    MAX_LENGTH,
    QueryRule,
    Unusable,
    Url,
    UrlRefused,
    _read_cached,
    digest,
    links,
    normalize,
    parse,
    read,
    resolver,
)
from crawler.errors import InvalidUrl

MEANINGFUL = QueryRule.of(CrawlConfig())
KEEP = QueryRule(QueryParams.KEEP, frozenset())
DROP = QueryRule(QueryParams.DROP, frozenset({"page"}))

labels = st.from_regex(r"[a-z][a-z0-9-]{0,8}[a-z0-9]", fullmatch=True).filter(lambda label: "--" not in label)
hostnames = st.lists(labels, min_size=1, max_size=3).map(lambda parts: ".".join([*parts, "example"]))
# Everything a path or query can hurt with: escapes whole and broken, dots, parameters, other scripts.
ESCAPES = ["%2e", "%2E%2e", "%7E", "%41", "%%34%31", "%", "%zz", "%%32e", "%;", "%3b", "%26"]
WORDS = [
    "a",
    "B",
    "é",
    "..",
    ".",
    "~",
    "page",
    "page=2",
    "sid=3",
    "utm_x=1",
    ";jsessionid=1",
    ";jsessionid=%zz",
    "(S(a1))",
    "(X(1)",
    "S(b)F(c))",
    "%28s%28d%29%29",
    ";",
    "",
]
pieces = st.sampled_from([*ESCAPES, *WORDS, *"-=+|'[ *:@" + '"'])
paths = st.lists(st.lists(pieces, max_size=3).map("".join), max_size=5).map(lambda parts: "/" + "/".join(parts))
queries = st.lists(st.lists(pieces, max_size=3).map("".join), max_size=4).map("&".join)
rules = st.sampled_from([MEANINGFUL, KEEP, DROP])


@st.composite
def urls(draw: st.DrawFn) -> Url:
    scheme = draw(st.sampled_from(["http", "https"]))
    query = draw(queries)
    return parse(f"{scheme}://{draw(hostnames)}{draw(paths)}" + (f"?{query}" if query else ""))


def refused(raw: str, base: str | None = None) -> UrlRefused:
    with pytest.raises(UrlRefused) as caught:
        parse(raw, base)
    return caught.value


# ---- canonical


def test_parts_are_those_of_the_canonical_href() -> None:
    assert parse("HTTPS://Example.COM:8443/A/../b%7Ec?X=1&y#frag") == Url(
        href="https://example.com:8443/b%7Ec?X=1&y",
        scheme="https",
        hostname="example.com",
        host="example.com:8443",
        path="/b%7Ec",
        query="X=1&y",
    )


@pytest.mark.parametrize(
    ("raw", "href"),
    [
        ("http://example.com", "http://example.com/"),
        ("http://example.com:80/", "http://example.com/"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("http://example.com./a", "http://example.com/a"),
        ("http://example.com.:8080/a", "http://example.com:8080/a"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://example.com/%2e%2e/Page", "http://example.com/Page"),
        ("http://example.com/%00", "http://example.com/%00"),
        ("http://example.com/ü?ü#ü", "http://example.com/%C3%BC?%C3%BC"),
        ("  http://example.com/a\n", "http://example.com/a"),
        ("http://example.com/a\nb", "http://example.com/ab"),
        ("http://127.0.0.1:8000/", "http://127.0.0.1:8000/"),
        ("http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/"),
        ("http://example.com/?a=\\", "http://example.com/?a=\\"),
        ("http://example.com/a@b:c", "http://example.com/a@b:c"),
    ],
)
def test_ordinary_urls_are_made_canonical(raw: str, href: str) -> None:
    assert parse(raw).href == href


def test_ipv6_keeps_its_brackets_and_port() -> None:
    url = parse("http://[2001:DB8::1]:8080/")
    assert (url.hostname, url.host) == ("[2001:db8::1]", "[2001:db8::1]:8080")


@pytest.mark.parametrize(
    ("raw", "href"),
    [
        ("b.html", "https://example.com/docs/b.html"),
        ("../b", "https://example.com/b"),
        ("//other.example/x", "https://other.example/x"),
        ("?page=2", "https://example.com/docs/a.html?page=2"),
        ("#top", "https://example.com/docs/a.html?q=1"),
        ("a\n b", "https://example.com/docs/a%20b"),
    ],
)
def test_references_resolve_against_the_base(raw: str, href: str) -> None:
    assert parse(raw, "https://example.com/docs/a.html?q=1").href == href


# ---- refused


@pytest.mark.parametrize(
    "raw",
    [
        "file:///etc/passwd",
        "ftp://example.com/",
        "gopher://example.com/",
        "javascript:alert(1)",
        "data:text/html,hi",
        "data:text/html," + "x" * 100_000,
        "source:file:///etc/passwd",
        "mailto:a@example.com",
        "JavaScript:void(0)",
        "java\nscript:void(0)",
        "localhost:8000/",
        "C:\\page.html",
    ],
)
@pytest.mark.parametrize("base", [None, "http://example.com/"])
def test_only_http_and_https_are_read(raw: str, base: str | None) -> None:
    assert refused(raw, base).reason is Reason.SCHEME


@pytest.mark.parametrize("raw", ["example.com", "//example.com/", "/path", "", " "])
def test_a_seed_needs_its_scheme(raw: str) -> None:
    assert refused(raw).reason is Reason.SCHEME


@pytest.mark.parametrize(
    ("raw", "href"),
    [
        ("\\a\\b", "http://example.com/a/b"),
        ("a\\b", "http://example.com/dir/a/b"),
        ("..\\a", "http://example.com/a"),
        ("/a\\\\b", "http://example.com/a//b"),
        ("/a\\..\\b?c\\d#e\\f", "http://example.com/b?c\\d"),
        ("http://other.example/a\\b", "http://other.example/a/b"),
        (".\\\\other.example", "http://example.com/dir//other.example"),
    ],
)
def test_a_backslash_in_a_path_is_a_slash(raw: str, href: str) -> None:
    base = "http://example.com/dir/page"
    assert parse(raw, base).href == href
    assert [url.href for url in links([raw], base) if isinstance(url, Url)] == [href]


ODD_IPV4 = ["127.1", "0x7f.1", "2130706433", "017700000001", "0177.0.0.1", "0", "127.000.000.001", "127.0.0.1."]
ODD_IPV4 += ["①②⑦.⓪.⓪.①", "127。0。0。1", "１２７.0.0.1", "0x7f000001", "0x", "127.0.0.0x1", "127.0.1"]


@pytest.mark.parametrize("host", ODD_IPV4)
@pytest.mark.parametrize("form", ["http://{}", "http://{}/", "https://{}:8080/x?y#z", "HTTP://{}/", "//{}/"])
def test_ipv4_in_unusual_notation_is_refused(host: str, form: str) -> None:
    assert refused(form.format(host), "http://example.com/").reason is Reason.EGRESS


@pytest.mark.parametrize(
    "raw",
    [
        "http://169.254.169.254:8888\\@example.com/",
        "http://a@b@c/",
        "http://user:secret@example.com/",
        "http://@example.com/",
        "http://:@example.com/",
        "//user@example.com/",
        "http:\\\\example.com\\",
        "\\\\example.com/",
        "/\\example.com/",
        "\\/example.com/",
        "\t/\n\\example.com/",
        "\\\\\\example.com/",
        "http:/\\example.com/",
        "http:\\example.com/",
        "http://example.com\\a",
        "http://good.example\\evil.example/",
        "//example.com\\a",
        "http://exa\tmple.com/",
        "http://exa\nmple.com/",
        "http://exa\rmple.com/",
        "ht\ntp://example.com/",
        "http:\n//example.com/",
        "/\n/example.com/",
        "http://exa mple.com/",
        "http://exa\x00mple.com/",
        "http://exa\x7fmple.com/",
        "http://exa\u00a0mple.com/",
        "http://%31%32%37.0.0.1/",
        "http://example%2ecom/",
        "http://[fe80::1%25eth0]/",
        "http://",
        "http:///path",
        "http:/example.com/",
        "http:example.com",
        "////example.com/",
        "http://./",
        "http://127.1../",
        "http://example.com../",
        "http://example.com:99999/",
        "http://example.com:x/",
        "http://[::1/",
        "http://[::g]/",
        "http://1.2.3.4.5/",
        "http://foo.0x10/",
        "http://\ud800/",
        "http://example.com/\ud800",
    ],
)
def test_what_programs_read_differently_is_refused(raw: str) -> None:
    assert refused(raw, "http://example.com/").reason is Reason.EGRESS


def test_a_host_that_is_longer_than_any_name_is_refused() -> None:
    assert parse(f"http://{'a.' * 126}d/").hostname == "a." * 126 + "d"
    with pytest.raises(InvalidUrl, match="longer than names of hosts can be"):
        parse(f"http://{'a' * 256}.test/")


@pytest.mark.parametrize("raw", ["http://h.test:0/", "https://127.0.0.1:00/x", "http://[::1]:0/"])
def test_port_nought_is_no_port(raw: str) -> None:
    with pytest.raises(InvalidUrl, match="port 0, which nobody can reach"):
        parse(raw)


def test_userinfo_of_a_base_is_not_carried_on() -> None:
    assert refused("page", "http://user:secret@example.com/").reason is Reason.EGRESS


def test_a_refusal_is_a_sentence_that_keeps_secrets() -> None:
    error = refused("http://user:secret@example.com/")
    assert isinstance(error, InvalidUrl)
    assert error.message.endswith(".")
    assert "secret" not in error.message
    assert error.details == {"reason": "egress"}


def test_urls_over_the_limit_are_too_long() -> None:
    stem = "http://example.com/"
    assert parse(stem + "a" * (MAX_LENGTH - len(stem))).path
    assert refused(stem + "a" * (MAX_LENGTH - len(stem) + 1)).reason is Reason.TOO_LONG
    assert refused(stem + "é" * 400).reason is Reason.TOO_LONG, "the canonical form counts"
    assert refused("a" * 100_000, stem).reason is Reason.TOO_LONG
    assert parse(stem + "#" + "a" * MAX_LENGTH).href == stem, "fragments do not count"


@given(st.text(max_size=60), st.sampled_from([None, "http://example.com/a/b?c"]))
def test_any_text_is_read_or_refused(raw: str, base: str | None) -> None:
    try:
        url = parse(raw, base)
    except UrlRefused:
        return
    assert url.href.isascii()
    assert parse(url.href) == url


@given(urls())
def test_parsing_a_parsed_url_changes_nothing(url: Url) -> None:
    assert parse(url.href) == url
    assert url.href.startswith(f"{url.scheme}://{url.host}{url.path}")


# ---- keys


@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ("http://Example.com:80/Docs/", "http://example.com/docs"),
        ("http://example.com/?", "http://example.com/"),
        ("http://example.com//", "http://example.com/"),
        ("http://example.com/a?b=1&Page=2&c=3", "http://example.com/a?page=2"),
        ("http://example.com/a/?page=2", "http://example.com/a?page=2"),
        ("http://example.com/a;jsessionid=0A1B?page=2", "http://example.com/a?page=2"),
        ("http://example.com/;JSESSIONID=0A1B", "http://example.com/"),
        ("http://example.com/(S(ab12cd34ef))/Boats/Heron.aspx", "http://example.com/boats/heron.aspx"),
        ("http://example.com/fleet/(X(1)S(ab12cd34ef))/list?page=2", "http://example.com/fleet/list?page=2"),
        ("http://example.com/fleet/(A(1b-_)F(c!d)S(e))", "http://example.com/fleet"),
        ("http://example.com/%28S%28ab12cd34ef%29%29/;jsessionid=1", "http://example.com/"),
        ("http://example.com/(s(a))/(s(b));jsessionid=1/boats", "http://example.com/boats"),
        ("http://example.com/(S(ab12)/boats", "http://example.com/(s(ab12)/boats"),
        ("http://example.com/wiki/Heron_(S(ab))", "http://example.com/wiki/heron_(s(ab))"),
        ("http://example.com/(draft)/(1)", "http://example.com/(draft)/(1)"),
        ("http://example.com/(b(1))/(s())", "http://example.com/(b(1))/(s())"),
        ("http://example.com/a?page=2&AspxAutoDetectCookieSupport=1", "http://example.com/a?page=2"),
        ("http://example.com/%7Euser/%C3%BC", "http://example.com/~user/%c3%bc"),
    ],
)
def test_the_default_key_keeps_meaningful_parameters_only(raw: str, key: str) -> None:
    assert normalize(parse(raw), MEANINGFUL) == key


def test_keep_drops_only_tracking_and_sorts() -> None:
    url = parse("http://example.com/?z=1&utm_source=x&a=2&gclid=1&PHPSESSID=ab&sid=4&a=1&fbclid=9&jsessionid=q")
    assert normalize(url, KEEP) == "http://example.com/?a=1&a=2&z=1"


def test_drop_drops_even_meaningful_parameters() -> None:
    assert normalize(parse("http://example.com/a?page=2"), DROP) == "http://example.com/a"


def test_named_parameters_are_meaningful_in_any_case() -> None:
    rule = QueryRule.of(CrawlConfig(meaningful_params=("Id", "lang")))
    assert normalize(parse("http://example.com/a?page=2&ID=7&LANG=de"), rule) == "http://example.com/a?id=7&lang=de"


def test_pages_that_differ_keep_different_keys() -> None:
    raws = ["http://a.example/", "https://a.example/", "http://www.a.example/", "http://a.example:8080/"]
    raws += ["http://a.example/b", "http://a.example/b?page=2", "http://a.example/b?page=3", "http://a.example//b"]
    assert len({normalize(parse(raw), MEANINGFUL) for raw in raws}) == len(raws)


@given(urls(), rules)
def test_normalizing_a_key_changes_nothing(url: Url, rule: QueryRule) -> None:
    key = normalize(url, rule)
    assert normalize(parse(key), rule) == key


@given(urls(), rules)
def test_keys_are_lower_case_without_fragment_or_trailing_slash(url: Url, rule: QueryRule) -> None:
    key = normalize(url, rule)
    assert key == key.lower()
    assert "#" not in key
    path = key.removeprefix(f"{url.scheme}://{url.host}").partition("?")[0]
    assert path == "/" or not path.endswith("/")
    assert len(key) <= len(url.href)


@given(urls(), rules, st.data())
def test_spellings_of_one_page_share_its_key(url: Url, rule: QueryRule, data: st.DataObject) -> None:
    key = normalize(url, rule)
    path = url.path
    assume("%" not in path)  # the case of an escape's letters is another matter
    port = data.draw(st.sampled_from(["", ":80" if url.scheme == "http" else ":443"]))
    host = data.draw(st.sampled_from([url.hostname, url.hostname.upper(), url.hostname + "."]))
    path = data.draw(st.sampled_from([path, path.upper(), path + "/" if path != "/" else path]))
    query = f"?{url.query}" if url.query else ""
    fragment = data.draw(st.sampled_from(["", "#", "#top", "#/a?b"]))
    variant = parse(f"{url.scheme.upper()}://{host}{port}{path}{query}{fragment}")
    assert normalize(variant, rule) == key


@given(urls(), rules, st.randoms())
def test_the_order_of_parameters_does_not_matter(url: Url, rule: QueryRule, random: object) -> None:
    pairs = url.query.split("&")
    random.shuffle(pairs)  # type: ignore[attr-defined]
    assert normalize(url._replace(query="&".join(pairs)), rule) == normalize(url, rule)


def test_digests_are_sixteen_bytes_and_stable() -> None:
    assert digest("http://example.com/").hex() == "9aba6a18c5a5d94534a3b99c485d4547"
    assert len(digest("")) == 16


# ---- links


def test_links_are_deduplicated_before_they_are_read() -> None:
    hrefs = ["b#1", "a", "b", " b ", "#top", "", "  ", "a#x", "mailto:x@example.com", "?page=2", "/c", "../a"]
    found = list(links(hrefs, "http://example.com/docs/index.html?q=1"))
    assert [link.href if isinstance(link, Url) else link.reason for link in found] == [
        "http://example.com/docs/b",
        "http://example.com/docs/a",
        Reason.SCHEME,
        "http://example.com/docs/index.html?page=2",
        "http://example.com/c",
        "http://example.com/a",
    ]


def test_refused_links_say_what_was_written() -> None:
    [link] = links(["http://127.1/"], "http://example.com/")
    assert isinstance(link, Unusable)
    assert (link.raw, link.reason) == ("http://127.1/", Reason.EGRESS)


def test_a_base_with_slashes_in_its_query_resolves_by_its_path() -> None:
    [link] = links(["b"], "http://example.com/docs/a?next=/x/y")
    assert link == parse("http://example.com/docs/b")


@given(st.lists(st.lists(pieces, max_size=4).map("/".join), max_size=6), urls())
def test_links_are_what_parse_says(hrefs: list[str], base: Url) -> None:
    written = [href for href in dict.fromkeys(href.partition("#")[0].strip() for href in hrefs) if href]
    for raw, link in zip(written, links(hrefs, base.href), strict=True):
        if isinstance(link, Url):
            assert link == parse(raw, base.href)
        else:
            assert refused(raw, base.href).reason is link.reason


@pytest.mark.parametrize(
    "base", ["https://a.example/", "https://a.example/x/y/page.html?q=/z/", "https://a.example:81/x/"]
)
@pytest.mark.parametrize(
    "href",
    ["/", "/p?q#f", "//b.example/c", "///c", "/../d", "https://c.example/", "http://c.example:80/e/../f", "https:/g",
     "https:g", "HTTPS://c.example/", "/\\h", "https://u@c.example/", "http://0x7f.1/", "i", "../j", "?k", "#l",
     " /m "],
)  # fmt: skip
def test_a_page_reads_each_link_as_its_own_address_would(base: str, href: str) -> None:
    raw = href.strip().partition("#")[0]
    assert resolver(base)(href) == (read(raw, base) if raw else None)


def test_of_pages_with_a_long_base_no_url_is_kept() -> None:
    """A page of a few bytes for each link would fill a cache with thousands of long URLs."""
    kept = _read_cached.cache_info().currsize
    resolve = resolver(f"http://a.example/{'d' * 1_900}/")
    assert [isinstance(resolve(f"no-url-of-a-long-base-{number}"), Url) for number in range(100)] == [True] * 100
    assert _read_cached.cache_info().currsize == kept
