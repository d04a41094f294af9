"""Builds handlers for hosts: rate limits, pauses, blocks, and the changes operators make to them."""

from functools import cached_property
from typing import TYPE_CHECKING

from crawler.adapters.engine.host_store import HostStore
from crawler.adapters.operating.host_reader import HostReader
from crawler.adapters.operating.politeness_audit import PolitenessAudit
from crawler.handlers.hosts.control_host import ControlHost
from crawler.handlers.hosts.describe_hosts import DescribeHosts

if TYPE_CHECKING:
    from crawler.bootstrap.app import App


class Hosts:
    def __init__(self, app: "App") -> None:
        self._app = app

    @cached_property
    def store(self) -> HostStore:
        return HostStore(self._app.database)

    @cached_property
    def reader(self) -> HostReader:
        return HostReader(self._app.database)

    @property
    def describe(self) -> DescribeHosts:
        return DescribeHosts(self.reader, self._app.frontier, self._app.clock, self._app.user_agent)

    @cached_property
    def control(self) -> ControlHost:
        return ControlHost(self._app.frontier, self.store, self._app.hints, self._app.clock)

    @property
    def audit(self) -> PolitenessAudit:
        return PolitenessAudit(self._app.database, self._app.user_agent)
