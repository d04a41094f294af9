"""Compare a crawl without holding up those of others: `domain/changes/compare_turns.py` has the rules.

The comparison itself is `diff_crawl.py`.
"""

from collections.abc import Callable
from typing import Protocol
from uuid import UUID

from crawler.domain import judging
from crawler.domain.changes.compare_turns import MOST_ATTEMPTS, Start, Turn, Turns
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.ports import CrawlReader
from crawler.domain.judging import Look
from crawler.errors import CrawlerError, DatabaseUnavailable, NotFound, RedisUnavailable

LOOK_SECONDS = 2.0
"""How often Redis is asked."""
_LOST = "The process that compared it was ended each time"


class OthersFirst(Exception):
    """The comparison has to let others go first."""


class Diff(Protocol):
    def __call__(self, crawl_id: UUID, look: Look, /) -> CrawlJob: ...
    def give_up(self, crawl_id: UUID, reason: str) -> CrawlJob: ...
    def is_early(self, crawl_id: UUID) -> bool: ...


class Crawls(CrawlReader, Protocol):
    def is_diffed(self, crawl_id: UUID) -> bool: ...


class CompareInTurn:
    def __init__(self, crawls: Crawls, diff: Diff, turns: Turns, seconds: Callable[[], float]) -> None:
        self._crawls = crawls
        self._diff = diff
        self._turns = turns
        self._seconds = seconds

    def __call__(
        self,
        crawl_id: UUID,
        asked_by: str = "",
        is_stopping: Callable[[], bool] = lambda: False,
        *,
        again: bool = False,
    ) -> Start:
        """Whether it is compared now; if not, it is to be asked for later, or somebody else does it.

        `asked_by` is the same each time one and the same caller asks. When this process is to stop, another goes on.
        `again`: also if it was compared, or has failed. Else that is over: messages are sent and delivered twice.
        """
        if not again and self._crawls.is_diffed(crawl_id):
            return Start.NOW
        if self._diff.is_early(crawl_id):  # it takes no turn: the one it waits for may need it
            return Start.LATER
        project_id = self._crawls.get_crawl(crawl_id).project_id
        turn = self._turns.begin(project_id, crawl_id, asked_by)
        if turn.start is not Start.NOW:
            return turn.start
        if turn.attempts > MOST_ATTEMPTS:
            self.give_up(crawl_id, f"{_LOST}, {MOST_ATTEMPTS} times.")
            return Start.NOW
        look = _Looks(self._turns, project_id, crawl_id, turn, self._seconds, is_stopping)
        told = judging.besides.set(look.besides)
        try:
            with self._turns.held(project_id, crawl_id):
                self._diff(crawl_id, look)
        except OthersFirst:
            self._turns.put_off(project_id, crawl_id, was_long=look.is_long)
            return Start.LATER
        except (NotFound, DatabaseUnavailable, RedisUnavailable):  # no fault of the comparison
            self._turns.put_off(project_id, crawl_id, was_long=False)
            raise
        except Exception as exc:
            self._turns.leave(project_id, crawl_id, is_over=False)
            if turn.attempts < MOST_ATTEMPTS:
                raise
            said = exc.message.rstrip(".") if isinstance(exc, CrawlerError) else type(exc).__name__
            self.give_up(crawl_id, f"Comparing it broke {MOST_ATTEMPTS} times ({said}).")
            return Start.NOW
        finally:
            judging.besides.reset(told)
        self._turns.leave(project_id, crawl_id, is_over=True)
        return Start.NOW

    def give_up(self, crawl_id: UUID, reason: str) -> None:
        crawl = self._diff.give_up(crawl_id, reason)
        self._turns.leave(crawl.project_id, crawl_id, is_over=True)


class _Looks:
    """Asked now and then by the comparison whether it may go on."""

    def __init__(
        self,
        turns: Turns,
        project_id: UUID,
        crawl_id: UUID,
        turn: Turn,
        seconds: Callable[[], float],
        is_stopping: Callable[[], bool],
    ) -> None:
        self._is_stopping = is_stopping
        self._turns = turns
        self._project_id = project_id
        self._crawl_id = crawl_id
        self._turn = turn
        self._seconds = seconds
        self._next = seconds() + LOOK_SECONDS
        self._used = self._besides = 0.0
        """CPU time: of judges, as they last said, and of others."""

    @property
    def is_long(self) -> bool:
        return self._turn.is_long

    def besides(self, seconds: float) -> None:
        """Others than judges have worked for so long."""
        self._besides += seconds
        self(self._used)

    def __call__(self, used: float) -> None:
        if self._is_stopping():
            raise OthersFirst
        self._used = used
        used += self._besides
        if not self.is_long and used >= self._turn.seconds:
            if not self._turns.take_long(self._crawl_id):
                raise OthersFirst
            self._turn = self._turn._replace(is_long=True)
        if self._seconds() < self._next:
            return
        self._next = self._seconds() + LOOK_SECONDS
        if used >= self._turn.seconds and self._turns.others_wait(self._crawl_id):
            raise OthersFirst
        self._turns.go_on(self._project_id, self._crawl_id)
