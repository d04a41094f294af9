"""Egress rule (SSRF protection): which IP addresses may be connected to, for pages, robots, webhooks and the browser.

The *dialled* address decides, at the moment of the connect: a name that was checked and then looked up again could have
moved in between. Only public addresses are allowed, so whatever no table knows stays closed.

It is asked where connections are made: `adapters/curl/handle.py` (pages, robots.txt, webhooks), `egress_proxy.py` and
`pinned_dial.py` in `adapters/browser`, and `adapters/notices/apprise_child.py` (other channels).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import NamedTuple, Self

from crawler.errors import EgressRefused, SettingsError

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_CLOSED_V4 = tuple(
    IPv4Network(n)
    for n in (
        "0.0.0.0/8",  # this host
        "10.0.0.0/8",
        "100.64.0.0/10",  # shared address space; also a cloud's metadata service
        "127.0.0.0/8",
        "168.63.129.16/32",  # a cloud's host agent, on a public-looking address
        "169.254.0.0/16",  # link-local: metadata services
        "172.16.0.0/12",
        "192.0.0.0/24",  # protocol assignments; also a cloud's metadata service
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
)
_GLOBAL_V6 = IPv6Network("2000::/3")  # the only space handed out for global unicast
_CLOSED_V6 = tuple(
    IPv6Network(n)
    for n in (
        "2001::/23",  # protocol assignments, Teredo
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")
_6TO4 = IPv6Network("2002::/16")
_V4_MASK = 0xFFFFFFFF
_THIS_MACHINE = frozenset({"localhost", "localhost."})
_LOOPBACK = "127.0.0.1"

_NUMBER_LAST = re.compile(r"(?:^|\.)(?:[0-9]+|0[xX][0-9a-fA-F]*)\.?$")
"""A host whose last label is a number: every resolver reads it as an IPv4 address, however odd it looks."""


# Deliberately narrower than any URL parser: no userinfo, backslash, percent sign or blank can hide another host.
_ORIGIN = re.compile(r"(https?)://([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?(?=[/?#]|$)")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_OWN = ("127.", "::1", "[::1]", "localhost")
_LONGEST_VALUE = 500
"""Characters of a setting that are printed whole."""


class Target(NamedTuple):
    """The host, port and address that a URL connects to."""

    scheme: str
    host: str
    port: int
    address: str | None
    """The address, if the host is spelled as one: then there is nothing to look up."""


def target_of(url: str) -> Target:
    """Raises EgressRefused for a URL that is not plainly http(s)://host[:port]/…"""
    match = _ORIGIN.match(url)
    if match is None:
        raise EgressRefused("This URL does not plainly name an http(s) host.")
    return _target(*match.groups())


@lru_cache(maxsize=8192)
def _target(scheme: str, host: str, port: str | None) -> Target:
    number = int(port) if port else _DEFAULT_PORTS[scheme]
    if not 0 < number < 65536:
        raise EgressRefused("This URL's port does not exist.")
    return Target(scheme, host.lower(), number, literal_address(host))


def closed_words(url: str, rule: "EgressRule") -> str:
    """That a URL's host may not be reached by this rule, and what to set where if it should be; without a full stop.

    The value is the whole setting: with the new address alone, what is open now would be closed by the next start. It
    is printed if only this machine's own addresses are open: whoever may start crawls need not know the others.
    """
    target = target_of(url)
    endpoint = f"{target.host}:{target.port}"
    open_now = rule.entries()
    value = ",".join(dict.fromkeys((*open_now, endpoint)))
    if len(value) > _LONGEST_VALUE or not all(entry.startswith(_OWN) for entry in open_now):
        setting = f"{endpoint} added to CRAWLER_EGRESS_ALLOW, with a comma"
    else:
        setting = f"CRAWLER_EGRESS_ALLOW={value}"
    return (
        f"{endpoint} may not be reached from here, as it is no public address; if it should be, start the service "
        f"('crawler up'; stop it first if it runs) with {setting}"
    )


@lru_cache(maxsize=8192)
def is_public(address: str) -> bool:
    """Whether this is a public unicast address; False for what is not an address at all."""
    parsed = _parse(address)
    return parsed is not None and _is_public(parsed)


def _is_public(address: Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _CLOSED_V4)
    inner = _inner_v4(address)
    if inner is not None:
        return _is_public(inner)
    return address in _GLOBAL_V6 and not any(address in network for network in _CLOSED_V6)


def _inner_v4(address: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that packets to this IPv6 address end at, where its notation carries one."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return IPv4Address(int(address) & _V4_MASK)
    if address in _6TO4:
        return IPv4Address(int(address) >> 80 & _V4_MASK)
    return None


def _parse(address: str) -> Address | None:
    if "%" in address:  # a zone id only makes sense on this machine's own links
        return None
    try:
        parsed = ip_address(address)
    except ValueError:
        return None
    return parsed


def literal_address(host: str) -> str | None:
    """The address a URL's host spells out, or None for a name.

    Odd spellings (127.1, 0x7f.1, 2130706433, 0177.0.0.1) are refused: programs differ in what they mean.
    """
    if host.startswith("[") and host.endswith("]"):
        parsed = _parse(host[1:-1])
        if not isinstance(parsed, IPv6Address):
            raise EgressRefused(f"{host!r} is not an IPv6 address.")
        return str(parsed)
    if not _NUMBER_LAST.search(host):
        return None
    if _parse(host) is None:
        raise EgressRefused(f"{host!r} is an odd spelling of an IPv4 address.")
    return host


@dataclass(frozen=True, slots=True)
class EgressRule:
    """Public addresses, and what the operator opened beyond them."""

    networks: tuple[Network, ...] = ()
    endpoints: frozenset[tuple[str, int]] = frozenset()
    """Open endpoints: (host, port) as a URL names them, or (address, port) as they are dialled."""

    @classmethod
    def parse(cls, entries: Iterable[str]) -> Self:
        """From `10.0.0.0/8`, `10.1.2.3`, `host:port`, `127.0.0.1:8080` or `[::1]:8080`."""
        networks: list[Network] = []
        endpoints: set[tuple[str, int]] = set()
        for entry in entries:
            network = _network(entry)
            if network is not None:
                networks.append(network)
            else:
                endpoints.add(_endpoint(entry))
        return cls(tuple(networks), frozenset(endpoints))

    def entries(self) -> tuple[str, ...]:
        """What is open, as `parse` reads it: each once, and no address that an open network holds anyway."""
        wide = tuple(str(network) for network in dict.fromkeys(self.networks) if not self._is_inside_another(network))
        return (*wide, *(_written(*one) for one in sorted(self.endpoints) if not self._is_in_a_network(one[0])))

    def _is_inside_another(self, network: Network) -> bool:
        return any(
            network != other and network.version == other.version and network.subnet_of(other)  # type: ignore[arg-type]
            for other in self.networks
        )

    def _is_in_a_network(self, host: str) -> bool:
        address = _parse(host)
        return address is not None and any(address in network for network in self.networks)

    def opened(self, host: str, port: int) -> Self:
        """A copy of this rule with one more open endpoint."""
        return type(self)(self.networks, self.endpoints | {(_canonical(host), port)})

    def is_closed(self, url: str, addresses: Sequence[str] = ()) -> bool:
        """Whether a URL spells out an address that may not be dialled. Raises EgressRefused for what names no host.

        A name is judged when it is dialled, or by the addresses that somebody found for it: one of them is enough.
        """
        target = target_of(url)
        address = target.address or (_LOOPBACK if target.host in _THIS_MACHINE else None)
        known = [address] if address else addresses
        return bool(known) and not any(self.allows(one, target.port, target.host) for one in known)

    def allows(self, address: str, port: int, host: str = "") -> bool:
        """Whether `address` may be dialled for a URL that names `host`."""
        if is_public(address):
            return True
        parsed = _parse(address)
        if parsed is None:
            return False
        if isinstance(parsed, IPv6Address) and parsed.ipv4_mapped is not None:
            parsed = parsed.ipv4_mapped
        return (
            (str(parsed), port) in self.endpoints
            or (bool(host) and (_canonical(host), port) in self.endpoints)
            or any(parsed in network for network in self.networks)
        )


def _network(entry: str) -> Network | None:
    if "/" not in entry and _parse(entry) is None:
        return None
    try:
        network = ip_network(entry)
    except ValueError as exc:
        raise SettingsError(f"The egress entry {entry!r} is not a network: {exc}.") from exc
    return network


def _endpoint(entry: str) -> tuple[str, int]:
    host, _, port = entry.rpartition(":")
    if not host or not port.isascii() or not port.isdigit() or not 0 < int(port) < 65536:
        raise SettingsError(f"The egress entry {entry!r} is neither a network (10.0.0.0/8) nor host:port.")
    try:
        literal_address(host)
    except EgressRefused as exc:
        raise SettingsError(f"The egress entry {entry!r} is not valid: {exc}") from exc
    if not re.fullmatch(r"[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]", host):
        raise SettingsError(f"The egress entry {entry!r} does not name a host.")
    return _canonical(host), int(port)


def _written(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _canonical(host: str) -> str:
    """One spelling for a host name or an address; addresses as `str(ip_address(…))` writes them."""
    bare = host.lower().rstrip(".").removeprefix("[").removesuffix("]")
    parsed = _parse(bare)
    return str(parsed) if parsed is not None else bare
