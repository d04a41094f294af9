"""robots.txt: protego's verdict, the line that gave it, and what hostile files may not do."""

import codecs
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from crawler.domain.hosts.robots import (
    MAX_SITEMAPS,
    Robots,
    RobotsPolicy,
    product_token,
    robots_policy,
)
from crawler.domain.hosts.robots_lines import MAX_BYTES
from crawler.domain.hosts.robots_rules import MAX_WILDCARDS
from crawler.domain.reasons import Reason

AGENT = "crawler/0.1 (+https://example.org/bot)"
SITE = "https://example.com"


def allows(text: str | bytes, path: str, agent: str = AGENT) -> tuple[bool, str]:
    return Robots.parse(text if isinstance(text, bytes) else text.encode()).allows(SITE + path, agent)


# ---- rules and their lines


def test_the_longest_rule_decides_and_is_named() -> None:
    text = "User-agent: *\nDisallow: /a\nAllow: /a/b\n\nDisallow: /a/b/c # deep\n"
    assert allows(text, "/") == (True, "no rule for this URL")
    assert allows(text, "/a/x") == (False, "line 2: Disallow: /a")
    assert allows(text, "/a/b") == (True, "line 3: Allow: /a/b")
    assert allows(text, "/a/b/c") == (False, "line 5: Disallow: /a/b/c # deep")


def test_of_equally_long_rules_allow_wins() -> None:
    assert allows("User-agent: *\nDisallow: /page\nAllow: /page", "/page") == (True, "line 3: Allow: /page")


def test_wildcards_ends_and_escapes_are_matched() -> None:
    text = "User-agent: *\nDisallow: /*.pdf$\nDisallow: /ü\nDisallow: /*?sort="
    assert allows(text, "/a.pdf") == (False, "line 2: Disallow: /*.pdf$")
    assert allows(text, "/a.pdf?x")[0]
    assert allows(text, "/%C3%BC") == (False, "line 3: Disallow: /ü")
    assert allows(text, "/list?sort=up") == (False, "line 4: Disallow: /*?sort=")


def test_an_allowed_index_page_is_the_folder_too() -> None:
    text = "User-agent: *\nDisallow: /\nAllow: /dir/index.html"
    assert allows(text, "/dir/") == (True, "line 3: Allow: /dir/index.html")
    assert allows(text, "/dir/a") == (False, "line 2: Disallow: /")


def test_only_the_group_that_names_us_counts() -> None:
    text = "User-agent: *\nDisallow: /\n\nUser-agent: other\nUser-Agent: Crawler\nDisallow: /private\n"
    text += "User-agent: craw\nDisallow: /c"
    assert allows(text, "/x") == (True, "no rule for this URL")
    assert allows(text, "/private") == (False, "line 6: Disallow: /private")
    assert allows(text, "/x", "someone/1.0") == (False, "line 2: Disallow: /")
    assert allows(text, "/c", "craw/1.0") == (False, "line 8: Disallow: /c")


@pytest.mark.parametrize(
    "named",
    ["crawler/0.1", "crawler/9", "CRAWLER", AGENT, "crawler*", "Mozilla/5.0 (compatible; crawler/0.1; +https://a.org)"],
)
def test_a_group_that_names_us_with_a_version_or_by_the_full_user_agent_is_ours(named: str) -> None:
    text = f"User-agent: {named}\nDisallow: /ours\n\nUser-agent: *\nDisallow: /all"
    assert [allows(text, path)[0] for path in ("/ours", "/all")] == [False, True]


@pytest.mark.parametrize("named", ["crawlerx", "craw", "crawler-x", "crawler2", "xcrawler", "*crawler", "c", ""])
def test_a_part_of_our_name_or_more_than_it_is_not_ours(named: str) -> None:
    text = f"User-agent: {named}\nDisallow: /theirs\n\nUser-agent: *\nDisallow: /all"
    assert [allows(text, path)[0] for path in ("/theirs", "/all")] == [True, False]


@pytest.mark.parametrize(
    "between", ["", "# note", "Sitemap: /s.xml", "Crawl-delay: 5", "Foo: bar", "Noindex: /a", "Host: a"]
)
def test_only_a_rule_ends_the_list_of_agents(between: str) -> None:
    text = f"User-agent: crawler\n{between}\nUser-agent: other\nDisallow: /a"
    assert allows(text, "/a") == (False, "line 4: Disallow: /a")
    assert allows(text, "/a", "other") == (False, "line 4: Disallow: /a")
    between_rules = f"User-agent: crawler\nDisallow: /a\n{between}\nDisallow: /b\nUser-agent: other\nDisallow: /c"
    assert [allows(between_rules, path)[0] for path in ("/a", "/b", "/c")] == [False, False, True]


def test_an_empty_rule_ends_the_list_of_agents_too() -> None:
    assert allows("User-agent: crawler\nDisallow:\nUser-agent: other\nDisallow: /", "/a")[0]


def test_a_delay_is_for_the_agents_above_it() -> None:
    robots = Robots.parse(b"User-agent: crawler\nCrawl-delay: 5\nUser-agent: other\nDisallow: /a")
    assert (robots.crawl_delay(AGENT), robots.crawl_delay("other")) == (5, None)


def test_a_star_does_not_add_to_the_group_that_names_us() -> None:
    text = "User-agent: *\nDisallow: /all\nCrawl-delay: 9\nUser-agent: crawler/2\nDisallow: /ours"
    assert Robots.parse(text.encode()).crawl_delay(AGENT) is None
    assert [allows(text, path)[0] for path in ("/ours", "/all")] == [False, True]


def test_groups_of_one_name_are_merged() -> None:
    text = "User-agent: crawler\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: Crawler/0.1\nDisallow: /c"
    assert [allows(text, path)[0] for path in ("/a", "/b", "/c")] == [False, True, False]
    assert allows(text, "/c")[1] == "line 6: Disallow: /c"


def test_robots_txt_itself_is_always_allowed() -> None:
    assert allows("User-agent: *\nDisallow: /", "/robots.txt")[0]


def test_the_line_of_a_stranger_is_safe_to_print() -> None:
    assert allows("User-agent: *\nDisallow: /\x1b[2J", "/%1B[2J") == (False, "line 2: Disallow: /?[2J")


# ---- odd bodies


@pytest.mark.parametrize(
    "body",
    [
        codecs.BOM_UTF8 + b"User-agent: *\nDisallow: /a",
        codecs.BOM_UTF16_LE + "User-agent: *\nDisallow: /a".encode("utf-16-le"),
        b"User-agent: *\r\nDisallow: /a\r\n",
        b"User-agent: *\rDisallow: /a\r",
        b"\0User-agent\0: *\nDisal\0low: /a",
        b"useragent *\ndisalow /a",
        b"User-agent: *\n\xff\xfe\xfa garbage\nDisallow: /a",
    ],
)
def test_rules_are_found_in_odd_encodings_and_spellings(body: bytes) -> None:
    assert [allows(body, path)[0] for path in ("/a", "/b")] == [False, True]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\0" * 1000,
        b"Disallow: /",
        b"<!DOCTYPE html>\n<pre>\nUser-agent: *\nDisallow: /\n</pre>",
        b"  \n<html><body>Not found</body></html>",
        b"User-agent: *\nDisallow:",
    ],
)
def test_what_holds_no_rules_allows_everything(body: bytes) -> None:
    assert allows(body, "/a") == (True, "no rule for this URL")
    assert Robots.parse(body).crawl_delay(AGENT) is None


def test_only_the_first_500_kib_count_and_no_half_line() -> None:
    rule = b"Disallow: /private/data\n"
    head = b"User-agent: *\nDisallow: /first\n"
    filler = b"# " + b"x" * (MAX_BYTES - len(head) - 3 - len(b"Disallow: /")) + b"\n"
    body = head + filler + rule + b"Disallow: /late\n" * 1000
    assert body[:MAX_BYTES].endswith(b"\nDisallow: /"), "cut where half the rule would forbid everything"
    assert [allows(body, path)[0] for path in ("/first", "/x", "/private/data", "/late")] == [False, True, True, True]


def test_many_agents_times_many_rules_do_not_multiply() -> None:
    """Read as it stands this file takes minutes and gigabytes."""
    agents = b"".join(b"User-agent: b%d\n" % number for number in range(14_000))
    rules = b"".join(b"Disallow: /%d\n" % number for number in range(14_000))
    started = time.process_time()
    robots = Robots.parse(agents + b"User-agent: crawler\n" + rules)
    assert not robots.permits(f"{SITE}/77", AGENT)
    assert robots.permits(f"{SITE}/x", AGENT)
    assert robots.permits(f"{SITE}/77", "unnamed")
    assert time.process_time() - started < 10


def test_a_file_of_too_many_rules_is_judged_without_a_search_for_the_line() -> None:
    body = b"User-agent: *\n" + b"".join(b"Disallow: /*%d\n" % number for number in range(6000))
    assert allows(body, "/5999") == (False, "one of 6000 rules")


def test_a_file_full_of_wildcards_costs_little_for_each_link() -> None:
    """A page may have 5,000 links, and each is judged: with all of these wildcards that took minutes a page."""
    body = b"User-agent: *\n" + b"".join(b"Disallow: /%d*%d\n" % (number, number) for number in range(5_000))
    robots = Robots.parse(body)
    assert robots.permits(f"{SITE}/", AGENT), "read once"
    started = time.process_time()
    for number in range(500):
        robots.permits(f"{SITE}/x{number}{'/a' * 900}", AGENT)
    assert time.process_time() - started < 3


def test_of_too_many_wildcards_the_last_forbid_more_and_allow_nothing() -> None:
    many = "".join(f"Disallow: /{number}*x\n" for number in range(MAX_WILDCARDS))
    more = "Disallow: /shop/*secret\nAllow: /shop/*open\nDisallow: /plain\nAllow: /plain/a*\n"
    body = f"User-agent: *\n{many}{more}".encode()
    expected = {"/1/y": True, "/1/x": False, "/shop/": False, "/shop/open": False, "/plain": False, "/plain/ab": True}
    assert {path: allows(body, path)[0] for path in expected} == expected


def test_who_is_in_a_hurry_hears_no_line() -> None:
    robots = Robots.parse(b"User-agent: *\nDisallow: /a\n")
    assert robots.allows(f"{SITE}/a", AGENT, hurried=True) == (False, "one of 1 rules")
    assert robots.allows(f"{SITE}/a", AGENT) == (False, "line 2: Disallow: /a")


# ---- the reduction to our own group loses nothing

agents = st.sampled_from(
    ["*", "crawler", "Crawler*", "craw", "crawlerx", "other", "*bot", "**", "", "a b", "crawler/2.0"]
)
patterns = st.sampled_from(["/", "/a", "/a/", "/a/b", "/*b", "/a$", "", "/A", "/%61", "/é", "*", "a", "/a/index.html"])
directives = st.one_of(
    st.builds("User-agent: {}".format, agents),
    st.builds("user agent {}".format, agents),
    st.builds("Disallow: {}".format, patterns),
    st.builds("dissallow {}".format, patterns),
    st.builds("Allow:{}".format, patterns),
    st.builds("Crawl-delay: {}".format, st.sampled_from(["1", "x", "-1", "70", "1e9", "nan", ""])),
    st.builds("Request-rate: {}".format, st.sampled_from(["1/5", "2/1m", "0/1", "1/0", "x"])),
    st.sampled_from(
        ["", "# note", "Sitemap: /s.xml", "Host: example.com", "Foo: bar", "noise", "User-agent foo: bar", ":", "x:y"]
    ),
)
files = st.lists(directives, max_size=12).map("\n".join)
urls = st.sampled_from(["/", "/a", "/a/", "/a/b", "/a/b/c", "/b", "/A", "/é", "/a?b"]).map(SITE.__add__)


def group_of(text: str, agent: str) -> str:
    """The file as if we were its only robot: its groups by RFC 9309, told line by line."""
    groups: list[tuple[set[str], list[str]]] = []
    open_for_agents = False
    for line in text.splitlines():
        words = line.lower().replace(":", " ").split()
        if words[:1] == ["user-agent"] or words[:2] == ["user", "agent"]:
            if line.startswith("User-agent foo"):
                continue  # an unknown record: its name has a blank
            if not open_for_agents:
                groups.append((set(), []))
            open_for_agents = True
            name = line.removeprefix("User-agent:").removeprefix("user agent").strip().lower()
            groups[-1][0].add(name if name == "*" else name.rstrip("*").partition("/")[0].partition(" ")[0])
        elif words[:1] in (["disallow"], ["dissallow"], ["allow"]):
            open_for_agents = False
            if groups:
                groups[-1][1].append(line)
    names = {name for agents, _ in groups for name in agents}
    mine = agent.lower() if agent.lower() in names else "*"
    return "\n".join(["User-agent: *", *(rule for agents, rules in groups if mine in agents for rule in rules)])


@given(files, urls, st.sampled_from(["crawler", "craw", "Other", "zbot", "crawler-x", "a"]))
def test_the_verdict_is_that_of_our_groups_alone(text: str, url: str, agent: str) -> None:
    whole = Protego.parse(group_of(text, agent))
    robots = Robots.parse(text.encode())
    allowed, line = robots.allows(url, agent)
    assert allowed == robots.permits(url, agent) == whole.can_fetch(url, "*")
    assert line == "no rule for this URL" or line.split(": ", 1)[1] in text
    if not allowed:
        assert line != "no rule for this URL"


@given(files, urls)
def test_without_its_deciding_line_a_file_would_judge_otherwise_or_by_another(text: str, url: str) -> None:
    allowed, line = Robots.parse(text.encode()).allows(url, "crawler")
    if line.startswith("line "):
        number = int(line.split()[1].rstrip(":"))
        lines = text.splitlines()
        del lines[number - 1]
        assert Robots.parse("\n".join(lines).encode()).allows(url, "crawler") != (allowed, line) or lines.count(
            text.splitlines()[number - 1]
        )


@given(st.binary(max_size=300))
def test_any_bytes_are_read(body: bytes) -> None:
    robots = Robots.parse(body)
    assert robots.allows(f"{SITE}/", AGENT)[1]
    assert robots.crawl_delay(AGENT) is None or robots.crawl_delay(AGENT) <= 60  # type: ignore[operator]


# ---- delays and sitemaps


@pytest.mark.parametrize(
    ("line", "delay"),
    [
        ("Crawl-delay: 2.5", 2.5),
        ("Crawl-delay: 1e9", 60.0),
        ("Crawl-delay: inf", None),
        ("Crawl-delay: nan", None),
        ("Crawl-delay: -1", None),
        ("Crawl-delay: soon", None),
        ("Crawl-delay: 0", 0.0),
        ("Request-rate: 1/5", 5.0),
        ("Request-rate: 2/1m", 30.0),
        ("Request-rate: 1/1d", 60.0),
        ("Request-rate: 1/5\nCrawl-delay: 2", 5.0),
        ("Request-rate: 4/2\nCrawl-delay: 2", 2.0),
    ],
)
def test_the_greater_wish_is_the_delay_at_most_a_minute(line: str, delay: float | None) -> None:
    assert Robots.parse(f"User-agent: *\n{line}\n".encode()).crawl_delay(AGENT) == delay


def test_sitemaps_are_listed_once_and_not_without_end() -> None:
    text = "Sitemap: https://example.com/a.xml\nUser-agent: *\nSitemap: /b.xml\nsitemap: https://example.com/a.xml\nSitemap:\n"
    assert Robots.parse(text.encode()).sitemaps == ("https://example.com/a.xml", "/b.xml")
    many = "".join(f"Sitemap: /{number}\n" for number in range(1000)) + "Sitemap: /" + "x" * 3000
    assert len(Robots.parse(many.encode()).sitemaps) == MAX_SITEMAPS


# ---- agent and policy


@pytest.mark.parametrize(
    ("user_agent", "token"),
    [
        ("crawler/0.1 (+https://example.org/bot)", "crawler"),
        ("crawler", "crawler"),
        ("My_Site-Bot2/1.0", "My_Site-Bot2"),
        ("Mozilla/5.0 (compatible; FooBot/1.0; +https://example.org)", "FooBot"),
        ("Mozilla/5.0 (X11; Linux x86_64)", "Mozilla"),
        ("(nameless)", "*"),
        ("", "*"),
    ],
)
def test_the_product_token_is_the_name_before_the_slash(user_agent: str, token: str) -> None:
    assert product_token(user_agent) == token
    assert product_token(token) == token


def test_a_word_in_our_contact_address_is_not_our_name() -> None:
    assert allows("User-agent: example\nDisallow: /\nUser-agent: https\nDisallow: /", "/a")[0]


@pytest.mark.parametrize(
    ("status", "failure", "policy"),
    [
        (200, None, RobotsPolicy.PARSE),
        (204, None, RobotsPolicy.PARSE),
        (301, None, RobotsPolicy.ALLOW_ALL),
        (401, None, RobotsPolicy.ALLOW_ALL),
        (403, None, RobotsPolicy.ALLOW_ALL),
        (404, None, RobotsPolicy.ALLOW_ALL),
        (410, None, RobotsPolicy.ALLOW_ALL),
        (429, None, RobotsPolicy.HOLD),
        (500, None, RobotsPolicy.HOLD),
        (503, None, RobotsPolicy.HOLD),
        (0, None, RobotsPolicy.HOLD),
        (0, Reason.TIMEOUT, RobotsPolicy.HOLD),
        (200, Reason.TIMEOUT, RobotsPolicy.HOLD),
        (0, Reason.CONNECT, RobotsPolicy.HOLD),
        (0, Reason.DNS, RobotsPolicy.HOLD),
        (0, Reason.TLS, RobotsPolicy.HOLD),
        (0, Reason.PROTOCOL, RobotsPolicy.HOLD),
        (200, Reason.TOO_LARGE, RobotsPolicy.PARSE),
        (302, Reason.REDIRECT_LOOP, RobotsPolicy.ALLOW_ALL),
        (0, Reason.EGRESS, RobotsPolicy.ALLOW_ALL),
    ],
)
def test_what_an_answer_for_robots_txt_means(status: int, failure: Reason | None, policy: RobotsPolicy) -> None:
    assert robots_policy(status, failure) is policy
