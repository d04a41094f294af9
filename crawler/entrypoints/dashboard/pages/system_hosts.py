"""`/system/hosts`: delay, pauses and blocks of each host with their reasons, and the operator's changes to them.

Decided in `handlers/hosts/control_host.py` and `describe_hosts.py` beside it; delays and blocks in
`domain/hosts/politeness.py`.
"""

from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from crawler.bootstrap import App
from crawler.domain.hosts.overview import HostOverview, host_name
from crawler.entrypoints.dashboard.forms.fields import Sent
from crawler.entrypoints.dashboard.pages.crawl import WAITS
from crawler.entrypoints.dashboard.serving.render import go, is_part, page
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import AdminOnly
from crawler.entrypoints.http.shapes import Text
from crawler.errors import Invalid, NotFound

router = APIRouter(dependencies=[AdminOnly])

LOOKED_AT = 1000
SHOWN = 100
DENIED_FOR = timedelta(days=365)
"""Blocks that the crawler sets itself are shorter; a longer one means that the host is denied."""
Host = Annotated[Text, Path(max_length=260)]


@router.get("/system/hosts")
def hosts(request: Request, tools: Tools, q: Annotated[Text, Query(max_length=260)] = "") -> Response:
    found = tools.hosts.describe.all(LOOKED_AT)
    wanted = q.strip().lower()
    matching = [host for host in found.hosts if wanted in host.host]
    return page(
        request,
        "parts/host_rows.html" if is_part(request) else "system_hosts.html",
        section="system",
        here="hosts",
        rows=[(host, _state(tools, host)) for host in matching[:SHOWN]],
        more=len(matching) - SHOWN if len(matching) > SHOWN else 0,
        total=found.total,
        filters={"q": q.strip()},
        named=_named(wanted) if not matching else None,
    )


def _named(wanted: str) -> str | None:
    """The host to show from what was typed, None if it is no host name. It need not be in the list."""
    try:
        return host_name(wanted) if wanted else None
    except Invalid:
        return None


@router.get("/system/hosts/{host}")
def host(request: Request, host: Host, tools: Tools) -> Response:
    return _show(request, tools, host_name(host))


@router.post("/system/hosts/{host}/pause")
def pause(host: Host, tools: Tools) -> Response:
    return _back(tools.hosts.control.pause(host), "host-paused")


@router.post("/system/hosts/{host}/resume")
def resume(host: Host, tools: Tools) -> Response:
    return _back(tools.hosts.control.resume(host), "host-resumed")


@router.post("/system/hosts/{host}/delay")
def delay(request: Request, host: Host, tools: Tools, form: Sent) -> Response:
    name, typed = host_name(host), form.text("seconds")
    try:
        seconds = float(typed.replace(",", ".") or 0)
    except ValueError:
        return _show(request, tools, name, typed=typed, wrong="This is not a number of seconds.")
    try:
        tools.hosts.control.delay(name, seconds)
    except Invalid as exc:
        return _show(request, tools, name, typed=typed, wrong=exc.message)
    return _back(name, "host-delayed")


@router.post("/system/hosts/{host}/deny")
def deny(host: Host, tools: Tools) -> Response:
    return _back(tools.hosts.control.deny(host), "host-denied")


@router.post("/system/hosts/{host}/allow")
def allow(host: Host, tools: Tools) -> Response:
    return _back(tools.hosts.control.allow(host), "host-resumed")


def _back(name: str, said: str) -> Response:
    return go(f"/system/hosts/{name}", said)


def _show(request: Request, tools: App, name: str, typed: str | None = None, wrong: str | None = None) -> Response:
    try:
        found = tools.hosts.describe.one(name)
    except NotFound:
        found = _unmet(name)
    return page(
        request,
        "system_host.html",
        200 if wrong is None else 422,
        section="system",
        here="hosts",
        host=found,
        state=_state(tools, found),
        seconds=typed if typed is not None else f"{found.operator_seconds:g}",
        wrong=wrong,
        waits=WAITS,
    )


def _unmet(name: str) -> HostOverview:
    """A host that no crawl has requested yet, so that an operator can pause or slow it down in advance."""
    return HostOverview(
        host=name, requests_24h=0, complaints_24h=0, last_request_at=None, paused=False, blocked_until=None,
        incidents=0, in_flight=0, gap_seconds=0, gap_because="nobody asked for one", learned_seconds=0,
        operator_seconds=0, robots_seconds=0,
    )  # fmt: skip


def _state(tools: App, host: HostOverview) -> dict[str, Any]:
    """A host's state for the page: icon, word and reason."""
    until = host.blocked_until
    if host.paused:
        return {"kind": "pause", "words": "Paused", "why": "by an operator", "left": None, "denied": False}
    if until is None:
        return {"kind": "ok", "words": "Asked", "why": "", "left": None, "denied": False}
    left = (until - tools.clock()).total_seconds()
    if left > DENIED_FOR.total_seconds() and tools.hosts.store.is_denied(host.host):
        return {"kind": "off", "words": "Denied", "why": "by an operator", "left": None, "denied": True}
    failing = host.robots is not None and host.robots.failing_since is not None
    why = "its robots.txt cannot be read" if failing else _incidents(host)
    return {"kind": "warn", "words": "Left alone", "why": why, "left": left, "denied": False}


def _incidents(host: HostOverview) -> str:
    count = host.incidents
    return "after errors or complaints" if not count else f"after {count} error{'s' if count > 1 else ''} or complaints"
