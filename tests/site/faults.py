"""Faults a test switches on while the site runs."""

from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from tests.site.answers import Answer, Headers, Manner, Request


@dataclass(frozen=True)
class Fault:
    """Which requests it hits, and what becomes of their answer. The first fault that hits wins."""

    path: str = "*"
    """May contain `*`; compared with the path, without its query."""
    host: str = "*"
    """A loopback address, may contain `*`."""
    times: int | None = None
    """After so many hits it is gone."""
    every: int = 1
    """Hits only each n-th request that fits."""

    status: int | None = None
    retry_after: str | int | None = None
    redirect: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    content_type: str | None = None

    delay: float = 0.0
    drip: float = 0.0
    piece: int = 1
    hang: bool = False
    reset: bool = False
    cut: int | None = None

    def fits(self, request: Request) -> bool:
        return fnmatchcase(request.path, self.path) and fnmatchcase(request.address, self.host)

    def applied(self, answer: Answer) -> Answer:
        status = self.status or (302 if self.redirect else 200 if self.body is not None else answer.status)
        body = self.body.encode() if self.body is not None else answer.body
        return replace(answer, status=status, headers=self._headers(answer), body=body, manner=self._manner(answer))

    def _headers(self, answer: Answer) -> Headers:
        given = dict(self.headers)
        if self.retry_after is not None:
            given["Retry-After"] = str(self.retry_after)
        if self.redirect is not None:
            given["Location"] = self.redirect
        if self.content_type is not None:
            given["Content-Type"] = self.content_type
        changed = {name.lower() for name in given}
        return (*((n, v) for n, v in answer.headers if n.lower() not in changed), *given.items())

    def _manner(self, answer: Answer) -> Manner | None:
        own = Manner(self.delay, self.drip, self.piece, self.hang, self.reset, self.cut)
        return answer.manner if own == Manner() else own

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class FaultList:
    """The faults that are on, and how often each was hit."""

    def __init__(self) -> None:
        self._faults: dict[int, Fault] = {}
        self._fitted: dict[int, int] = {}
        self._added = 0

    def add(self, fault: Fault) -> int:
        self._added += 1
        self._faults[self._added] = fault
        self._fitted[self._added] = 0
        return self._added

    def remove(self, number: int | None) -> None:
        """One fault, or all of them."""
        if number is None:
            self._faults.clear()
        else:
            self._faults.pop(number, None)

    def hit(self, request: Request) -> Fault | None:
        for number, fault in self._faults.items():
            if fault.fits(request) and self._counts(number, fault):
                return fault
        return None

    def _counts(self, number: int, fault: Fault) -> bool:
        self._fitted[number] += 1
        hits, rest = divmod(self._fitted[number], fault.every)
        return rest == 0 and (fault.times is None or hits <= fault.times)

    def __bool__(self) -> bool:
        return bool(self._faults)
