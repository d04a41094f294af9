"""`/hosts`: rate limits, pauses and blocks of each host, and how operators change them. Admin keys only.

Decided in `handlers/hosts/control_host.py` and `describe_hosts.py` beside it; delays and blocks in
`domain/hosts/politeness.py`.
"""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import ConfigDict, Field, computed_field

from crawler.bootstrap import App
from crawler.domain.hosts.overview import LONGEST_DELAY_SECONDS, HostOverview, host_name
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import AdminOnly
from crawler.entrypoints.http.cursors import Cursor, InvalidCursor, Limit, decode_number, encode
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import OLD_NAME, Body, Listed, Text

router = APIRouter(tags=["hosts"], dependencies=[AdminOnly])


MOST_HOSTS = 100_000
"""Hosts that can be listed."""
HostName = Annotated[Text, Path(max_length=260, description="example.org or example.org:8080")]


class HostShown(HostOverview):
    denied: bool = Field(default=False, description="On the deny list: never asked, by any crawl")


class Hosts(Listed[HostOverview]):
    total: int

    @computed_field(json_schema_extra=OLD_NAME)  # type: ignore[prop-decorator]
    @property
    def hosts(self) -> list[HostOverview]:
        return self.items


class HostChange(Body):
    """Only what is given changes. It holds for all crawls, and over restarts of everything."""

    model_config = ConfigDict(json_schema_extra={"example": {"paused": True, "delay_seconds": 5}})

    paused: bool | None = Field(None, description="Ask nothing until it is false again")
    delay_seconds: float | None = Field(
        None, ge=0, le=LONGEST_DELAY_SECONDS, allow_inf_nan=False, description="Least gap; 0 takes it back"
    )
    denied: bool | None = Field(None, description="Never ask; crawls that wait for nothing else end `blocked`")


@router.get("/hosts", summary="Hosts that are known: first those paused or blocked, then the busiest")
def list_hosts(tools: Tools, cursor: Cursor = None, limit: Limit = 100) -> Hosts:
    """The busiest may change between two parts of the list."""
    first = decode_number("hosts", cursor)
    if first > MOST_HOSTS:
        raise InvalidCursor
    found = tools.hosts.describe.all(limit, first)
    following = encode("hosts", str(first + limit)) if found.has_more and first + limit <= MOST_HOSTS else None
    return Hosts(items=found.hosts, next_cursor=following, total=found.total)


@router.get("/hosts/{host}", summary="How a host is treated, and why", responses=problems(404))
def get_host(host: HostName, tools: Tools) -> HostShown:
    return _shown(tools, host_name(host))


@router.patch("/hosts/{host}", summary="Pause, slow down or deny a host", responses=problems(404))
def change_host(host: HostName, body: HostChange, tools: Tools) -> HostShown:
    name, control = host_name(host), tools.hosts.control
    if body.paused is not None:
        (control.pause if body.paused else control.resume)(name)
    if body.delay_seconds is not None:
        control.delay(name, body.delay_seconds)
    if body.denied is not None:
        (control.deny if body.denied else control.allow)(name)
    return _shown(tools, name)


def _shown(tools: App, name: str) -> HostShown:
    found = tools.hosts.describe.one(name)
    return HostShown(**found.model_dump(), denied=tools.hosts.store.is_denied(name))
