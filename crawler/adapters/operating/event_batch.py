"""Batches of live events as WebSocket frames: each event is encoded once, however many clients read it."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from uuid import UUID

import orjson

Entry = tuple[bytes, dict[bytes, bytes]]
_FINAL_TEXT = 0x81


@dataclass(frozen=True)
class Batch:
    last: int
    """The number of the last event, or of the last missing one."""
    messages: tuple[bytes, ...] = ()
    numbers: tuple[int, ...] = ()
    forgotten: bool = False
    """Redis lost its data: readers that have seen a greater number get these events too."""

    @cached_property
    def frames(self) -> bytes:
        """All events as WebSocket frames. A server's frames are not masked, so they are the same for every client."""
        return b"".join(part for message in self.messages for part in (_head(len(message)), message))

    def since(self, seen: int) -> "Batch | None":
        """The part that is new to a reader who has seen that number; None if nothing is."""
        if self.forgotten or not self.numbers or self.numbers[0] > seen:
            return self
        return self.parts(sum(number <= seen for number in self.numbers))[1]

    def parts(self, most: int) -> tuple["Batch", "Batch | None"]:
        """The first `most` events, and the rest."""
        if len(self.messages) <= most:
            return self, None
        first = Batch(self.numbers[most - 1], self.messages[:most], self.numbers[:most])
        return first, Batch(self.last, self.messages[most:], self.numbers[most:])


def batch_of(entries: Iterable[Entry], after: int, until: int | None = None) -> Batch:
    """The events of these entries after that number, and which numbers are missing. After 0: from their first one."""
    told: list[tuple[int, bytes]] = []
    for entry in entries:
        first, last = _span(entry)
        if after and first > after + 1:
            told.append((first - 1, gap_message(after, first)))
        told += _messages(entry, first, after)
        after = last
    if until is not None and after > until:
        after, told = until, [(seq, message) for seq, message in told if seq <= until]
    return Batch(after, tuple(message for _, message in told), tuple(seq for seq, _ in told))


def gap(after: int, last: int) -> Batch:
    """A batch that reports missing events. An `after` beyond `last` is from before Redis lost its data."""
    return Batch(last, (gap_message(after, last + 1),), (last,), forgotten=after > last)


def gap_message(after: int, first: int) -> bytes:
    """The message about missing events. Its number is that of the last missing one, so a reader continues after it."""
    missing = {"after": after, "before": first}
    return _message(first - 1, "gap", None, datetime.now(UTC).isoformat(), missing)


def kind_of(entry: Entry) -> str:
    return entry[1][b"type"].decode()


def _span(entry: Entry) -> tuple[int, int]:
    last = int(entry[0].split(b"-")[0])
    return last - int(entry[1][b"count"]) + 1, last


def _messages(entry: Entry, first: int, after: int) -> Iterator[tuple[int, bytes]]:
    fields = entry[1]
    kind, at, crawl_id = fields[b"type"].decode(), fields[b"at"].decode(), str(UUID(bytes=fields[b"crawl"]))
    for seq, data in enumerate(orjson.loads(fields[b"items"]), first):
        if seq > after:
            yield seq, _message(seq, kind, crawl_id, at, data)


def _message(seq: int, kind: str, crawl_id: str | None, at: str, data: object) -> bytes:
    return orjson.dumps({"seq": seq, "type": kind, "crawl_id": crawl_id, "at": at, "data": data})


def _head(length: int) -> bytes:
    if length < 126:
        return bytes((_FINAL_TEXT, length))
    if length < 1 << 16:
        return bytes((_FINAL_TEXT, 126)) + length.to_bytes(2, "big")
    return bytes((_FINAL_TEXT, 127)) + length.to_bytes(8, "big")
