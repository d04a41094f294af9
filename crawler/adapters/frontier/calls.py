"""Base class of the frontier's parts: runs Redis commands and Lua scripts."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar
from uuid import UUID

from redis import Redis

from crawler.adapters.frontier.keys import BATCH, Batch, Keys
from crawler.adapters.frontier.redis_connection import Argument
from crawler.adapters.frontier.redis_scripts import Scripts

T = TypeVar("T")


class FrontierCalls:
    setting = "CRAWLER_REDIS_URL"
    """Where the server is named; errors tell it."""

    def __init__(self, client: Redis, prefix: str = "cr") -> None:
        self._keys = Keys(prefix)
        self._scripts = Scripts(client, self.setting)

    def _of(self, crawl_id: UUID, lanes: str = "h") -> Batch:
        batch = Batch(self._keys, lanes)
        batch.crawl(crawl_id)
        return batch

    def _command(self, *args: Argument) -> Any:
        return self._scripts.command(*args)

    def _run(self, name: str, batch: Batch, args: Sequence[Argument] = ()) -> Any:
        keys, layout = batch.layout()
        return self._scripts.run(name, keys, [*layout, *args])


def in_batches(items: Iterable[T]) -> Iterator[list[T]]:
    source = iter(items)
    while batch := list(islice(source, BATCH)):
        yield batch


def milliseconds(seconds: float) -> int:
    return round(seconds * 1000)
