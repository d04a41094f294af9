"""The egress rule: what may be dialled, and how the operator opens more."""

from ipaddress import IPv4Address, IPv6Address
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.hosts.egress import EgressRule, closed_words, is_public, literal_address
from crawler.errors import EgressRefused, SettingsError

VECTORS = [
    tuple(line.split())
    for line in Path(__file__).with_name("egress_vectors.txt").read_text().splitlines()
    if line and not line.startswith("#")
]


def test_the_vectors_cover_both_verdicts() -> None:
    assert len(VECTORS) == 49
    assert {verdict for verdict, _ in VECTORS} == {"allow", "refuse"}


@pytest.mark.parametrize(("verdict", "address"), VECTORS)
def test_every_vector_is_judged_right(verdict: str, address: str) -> None:
    assert is_public(address) is (verdict == "allow")
    assert EgressRule().allows(address, 80) is (verdict == "allow")


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "0x7f.1", "1.2.3.4:80", "[::1]", "1.1.1.1%eth0"])
def test_what_is_not_a_plain_address_is_never_public(text: str) -> None:
    assert not is_public(text)


@given(st.ip_addresses(v=4))
def test_every_way_to_wrap_an_ipv4_address_is_judged_like_the_address(inner: IPv4Address) -> None:
    number = int(inner)
    wrapped = (0xFFFF << 32 | number, 0x64FF9B << 96 | number, 0x2002 << 112 | number << 80 | 1)
    assert {is_public(str(IPv6Address(w))) for w in wrapped} == {is_public(str(inner))}


@given(st.ip_addresses(v=4))
def test_the_obsolete_ipv4_compatible_form_is_never_public(inner: IPv4Address) -> None:
    assert not is_public(str(IPv6Address(int(inner))))


@given(st.ip_addresses(v=6))
def test_nothing_is_public_that_the_standard_library_calls_private(address: IPv6Address) -> None:
    if address.is_private or address.is_multicast or address.is_link_local or address.is_site_local:
        wrapped = address.ipv4_mapped is not None or int(address) >> 112 == 0x2002
        assert wrapped or not is_public(str(address))


def test_a_network_opens_its_addresses_on_every_port_and_no_other_address() -> None:
    rule = EgressRule.parse(("127.0.0.0/8", "fd00::/8"))
    assert rule.allows("127.0.0.1", 1)
    assert rule.allows("127.9.9.9", 65535, "example.test")
    assert rule.allows("::ffff:127.0.0.1", 80)
    assert rule.allows("fd00::1", 443)
    assert not rule.allows("10.0.0.1", 80)
    assert not rule.allows("::1", 80)


def test_a_network_does_not_open_translated_addresses() -> None:
    rule = EgressRule.parse(("127.0.0.0/8",))
    assert not rule.allows("64:ff9b::7f00:1", 80)
    assert not rule.allows("2002:7f00:1::", 80)


def test_a_zone_id_is_refused_even_inside_an_open_network() -> None:
    rule = EgressRule.parse(("fe80::/10",))
    assert rule.allows("fe80::1", 80)
    assert not rule.allows("fe80::1%eth0", 80)


def test_a_named_endpoint_opens_whatever_the_name_resolves_to_on_that_port_only() -> None:
    rule = EgressRule.parse(("example.test:8080",))
    assert rule.allows("10.0.0.1", 8080, "example.test")
    assert rule.allows("::1", 8080, "Example.TEST.")
    assert not rule.allows("10.0.0.1", 80, "example.test")
    assert not rule.allows("10.0.0.1", 8080, "other.test")
    assert not rule.allows("10.0.0.1", 8080)


def test_an_address_endpoint_opens_that_address_and_port_only() -> None:
    rule = EgressRule.parse(("127.0.0.1:8080", "[::1]:9090"))
    assert rule.allows("127.0.0.1", 8080, "127.0.0.1")
    assert rule.allows("::1", 9090, "[::1]")
    assert not rule.allows("127.0.0.1", 8081, "127.0.0.1")
    assert not rule.allows("127.0.0.2", 8080, "elsewhere.test")


def test_opened_adds_one_endpoint_and_leaves_the_first_rule_alone() -> None:
    rule = EgressRule.parse(("10.0.0.0/8",))
    wider = rule.opened("[0:0::1]", 8080)
    assert wider.allows("::1", 8080, "[::1]")
    assert wider.allows("10.0.0.1", 80)
    assert not rule.allows("::1", 8080, "[::1]")


@pytest.mark.parametrize(
    "entry",
    ["", "example.test", "example.test:", "example.test:0", "example.test:65536", "example.test:x", ":80",
     "10.0.0.1/8", "10.0.0.0/33", "user@example.test:80", "a b:80", "127.1:80", "[::1", "[zz]:80", "[::1]:²"],
)  # fmt: skip
def test_an_unusable_entry_is_refused_with_a_sentence_that_quotes_it(entry: str) -> None:
    with pytest.raises(SettingsError) as caught:
        EgressRule.parse((entry,))
    assert repr(entry) in caught.value.message


@pytest.mark.parametrize(
    ("host", "address"),
    [("93.184.216.34", "93.184.216.34"), ("[::1]", "::1"), ("[::FFFF:7f00:1]", "::ffff:7f00:1")],
)
def test_a_plain_literal_is_its_own_address(host: str, address: str) -> None:
    assert literal_address(host) == address


@pytest.mark.parametrize("host", ["example.test", "1.example", "127.0.0.1.nip.test", "a-1", "x0x7f", "0x7f.a"])
def test_a_name_is_no_literal(host: str) -> None:
    assert literal_address(host) is None


@pytest.mark.parametrize(
    "host",
    ["127.1", "0x7f.1", "0x7f000001", "2130706433", "017700000001", "0177.0.0.1", "0", "127.000.000.001",
     "127.0.0.1.", "1.2.3.4.5", "example.1", "0x", "[::1%eth0]", "[::1%25eth0]", "[]", "[1.2.3.4]"],
)  # fmt: skip
def test_an_odd_spelling_of_an_address_is_refused(host: str) -> None:
    with pytest.raises(EgressRefused):
        literal_address(host)


@pytest.mark.parametrize(
    ("url", "addresses", "closed"),
    [
        ("http://127.0.0.62:8902/", (), True),
        ("http://localhost:8902/", (), True),
        ("http://intranet.example/", (), False),
        ("http://intranet.example/", ("10.0.0.7",), True),
        ("http://intranet.example/", ("10.0.0.7", "93.184.216.34"), False),
        ("http://opened.example:81/", ("10.0.0.7",), False),
        ("https://93.184.216.34/", (), False),
    ],
)
def test_a_url_is_known_to_be_closed_before_it_is_dialled(url: str, addresses: tuple[str, ...], closed: bool) -> None:
    assert EgressRule.parse(["opened.example:81"]).is_closed(url, addresses) == closed


@pytest.mark.parametrize("url", ["http://127.0.0.62:8902/a", "https://intranet.example/", "http://[::1]:8080/"])
def test_what_to_set_is_what_the_setting_takes(url: str) -> None:
    open_now = EgressRule.parse(["127.0.0.1:8088", "127.1.0.0/16", "127.1.2.3:80", "[::1]:81"])
    value = closed_words(url, open_now).rpartition("=")[2]
    rule = EgressRule.parse(value.split(","))
    assert not rule.is_closed(url, ["10.0.0.7"])
    assert rule.entries()[0] == "127.1.0.0/16"
    assert rule.endpoints > {("127.0.0.1", 8088), ("::1", 81)}, "what is open stays open"
    assert "127.1.2.3" not in value, "the network holds it"


@pytest.mark.parametrize("other", ["10.1.0.0/16", "intern.example:82", "192.168.1.5:80"])
def test_which_other_machines_are_open_is_told_to_nobody(other: str) -> None:
    words = closed_words("http://127.0.0.1:8026/", EgressRule.parse(["127.0.0.1:8088", other]))
    assert words.endswith("with 127.0.0.1:8026 added to CRAWLER_EGRESS_ALLOW, with a comma")


def test_a_long_setting_is_not_printed_whole() -> None:
    open_now = EgressRule.parse([f"host{number}.example:80" for number in range(100)])
    words = closed_words("http://127.0.0.1:8026/", open_now)
    assert words.endswith("with 127.0.0.1:8026 added to CRAWLER_EGRESS_ALLOW, with a comma")


def test_a_network_inside_another_is_named_once() -> None:
    assert EgressRule.parse(["127.0.0.0/8", "127.0.0.1", "::1", "127.0.0.0/8"]).entries() == ("127.0.0.0/8", "::1/128")
