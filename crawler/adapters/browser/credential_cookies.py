"""Keeps cookies that are credentials out of the browser's own jar.

They are sent in a header, to their origin alone. But sites often set the same cookie again, and browsers send cookies
to every port of a host, and to other hosts of its domain. So a visit that has such cookies

1. deletes them from the jar before a response that set them reaches the page;
2. tells the browser which cookies go to such hosts: those of the jar without these. Requests that were under way in the
   moment before the deletion have none either;
3. opens no WebSocket to such hosts: the protocol does not stop at its handshake.

Which headers are sent to the origin itself: `request_gate.py`.
"""

from typing import Any

from playwright.async_api import CDPSession

from crawler.adapters.browser.egress_proxy import Door
from crawler.domain.hosts.egress import Target, target_of
from crawler.errors import EgressRefused

SHARED_LABELS = 2
"""Hosts that share so many last labels may share cookies: a.example.org and b.example.org."""


class CredentialCookies:
    session: CDPSession

    def __init__(self, headers: tuple[tuple[str, str], ...], home: Target) -> None:
        self._names = cookie_names(headers)
        self._home = home

    def bar(self, door: Door) -> None:
        """Let no WebSocket through this door to places that the browser would send them to."""
        if self._names:
            door.is_closed_to_sockets = self._may_reach

    def _may_reach(self, other: Target) -> bool:
        home = self._home
        return (other.host, other.port) != (home.host, home.port) and share_cookies(home, other)

    def patterns(self, origin: str) -> list[dict[str, str]]:
        """What has to be intercepted: all requests, and responses of the origin."""
        if not self._names:
            return []
        return [
            {"urlPattern": "*", "requestStage": "Request"},
            {"urlPattern": f"{origin}/*", "requestStage": "Response"},
        ]

    async def forget(self) -> None:
        """Delete them from the jar. The protocol does not tell which responses set them, so each is suspected."""
        if not self._names:
            return
        jar = await self.session.send("Network.getAllCookies")
        for cookie in jar["cookies"]:
            if cookie["name"] in self._names:
                given = {name: cookie[name] for name in ("name", "domain", "path")}
                await self.session.send("Network.deleteCookies", given)

    async def kept_from(self, event: dict[str, Any]) -> dict[str, Any]:
        """Headers of a request to a host that the browser would send them to; {} for all others."""
        url = event["request"]["url"]
        if not self._names or not may_share_cookies(self._home, url):
            return {}
        jar = await self.session.send("Network.getCookies", {"urls": [url]})
        pairs = [f"{one['name']}={one['value']}" for one in jar["cookies"] if one["name"] not in self._names]
        sent = [(name, value) for name, value in event["request"]["headers"].items() if name.lower() != "cookie"]
        return {"headers": [{"name": n, "value": v} for n, v in (*sent, ("Cookie", "; ".join(pairs)))]}


def cookie_names(headers: tuple[tuple[str, str], ...]) -> frozenset[str]:
    pairs = (pair for name, value in headers if name.lower() == "cookie" for pair in value.split(";"))
    return frozenset(name for pair in pairs if (name := pair.partition("=")[0].strip()))


def may_share_cookies(home: Target, url: str) -> bool:
    """Whether a cookie of the origin can be sent to this URL, which is not of that origin."""
    try:
        other = target_of(url)
    except EgressRefused:
        return False
    if (other.scheme, other.host, other.port) == (home.scheme, home.host, home.port):
        return False
    return share_cookies(home, other)


def share_cookies(one: Target, other: Target) -> bool:
    """Whether browsers may send the cookies of one host to the other."""
    if one.host == other.host:
        return True
    if one.address is not None or other.address is not None:
        return False
    return one.host.split(".")[-SHARED_LABELS:] == other.host.split(".")[-SHARED_LABELS:]
