"""The site as a test uses it: started, ordered about, and asked what was requested."""

from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.site import log
from tests.site.faults import Fault
from tests.site.graph import Expected, Graph, Spec, address, build
from tests.site.process import site_process


class Site:
    """`with Site(tmp_path, hosts=3, pages=200) as site:` … `site.url()`, `site.expected()`, `site.requests()`."""

    def __init__(self, directory: Path, *, port: int = 0, **spec: Any) -> None:
        self.spec = Spec(**spec)
        self.port = port
        self.log_path = directory / "access.log"
        self._number: int | None = None
        self._graph: Graph | None = None

    def start(self) -> Self:
        """Serve; after a `stop`, on the same port again."""
        opened = site_process().order("open", spec=asdict(self.spec), port=self.port, log=str(self.log_path))
        self._number, self.port = opened["site"], opened["port"]
        return self

    def stop(self) -> None:
        if self._number is not None:
            self._order("close")
        self._number = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def graph(self) -> Graph:
        """The graph as it is served now."""
        if self._graph is None or self._graph.spec != self.spec:
            self._graph = build(self.spec)
        return self._graph

    def url(self, path: str = "/", host: int = 0) -> str:
        return f"http://{address(host)}:{self.port}{path}"

    def expected(self, **limits: Any) -> dict[str, Expected]:
        """See `Graph.expected`; the URLs are normalized."""
        return self.graph.expected(self.port, **limits)

    def requests(self) -> list[log.LoggedRequest]:
        """What was asked so far and answered (or broken off), in the order of arrival."""
        return sorted(log.read(self.log_path)) if self.log_path.exists() else []

    def politeness(self) -> dict[str, log.Politeness]:
        return log.politeness(self.requests())

    def set_fault(self, path: str = "*", *, host: int | None = None, **what: Any) -> int:
        """Switch a `Fault` on; its number, for `mend`."""
        fault = Fault(path=path, host="*" if host is None else address(host), **what)
        return int(self._order("fault", **fault.as_json()))

    def mend(self, number: int | None = None) -> None:
        """Switch one fault off, or all."""
        self._order("mend", number=number)

    def set_robots(self, text: str = "", *, host: int | None = None, **what: Any) -> int:
        """Another robots.txt, for one host or all; `status`, `hang` and the rest as for any fault."""
        return self.set_fault("/robots.txt", host=host, body=text, content_type="text/plain", **what)

    def edit(self, path: str, *, host: int = 0, **change: Any) -> None:
        """Change one page: `html` (all of it), `append` (a paragraph) or `status` (404 takes it away)."""
        self._order("edit", host=host, path=path, **change)

    def remove(self, path: str, *, host: int = 0, status: int = 404) -> None:
        self.edit(path, host=host, status=status)

    def restore(self, path: str, *, host: int = 0) -> None:
        self._order("restore", host=host, path=path)

    def set_version(self, version: int) -> None:
        """The whole site as it is in another version; `graph.changes` tells what differs."""
        self._order("version", version=version)
        self.spec = replace(self.spec, version=version)

    def under_way(self) -> list[tuple[str, str]]:
        """(address, target) of each request that has no answer yet."""
        return [(where, target) for where, target in self._order("under_way")]

    def drop_connections(self) -> None:
        self._order("drop")

    def _order(self, name: str, **arguments: Any) -> Any:
        assert self._number is not None, "The site is not running."
        return site_process().order(name, site=self._number, **arguments)
