"""The URLs of a web archive (WARC), for the acquisition queue. Pure: pieces of bytes in, entries and problems out.

Nothing of what the archive holds is kept: of each record only its heading is looked at, so that an archive of any size
goes through in bounded memory, and the time it takes grows with its bytes. A record that cannot be read costs nothing
but itself.
"""

import re
import zlib
from collections.abc import Iterator
from functools import partial

from crawler.domain.acquisition.entries import NewEntry, RowProblem, new_entry
from crawler.errors import Invalid

MAX_HEADING = 64 * 1024
MOST_RECORDS = 2_000_000
"""Of one archive, whatever their kind; a gigabyte of pages has some 300,000. As many packed parts, headings without an
end and KiB that belong to no record: those take as long."""
MOST_BEFORE_RECORDS = 1000
"""Packed parts without a record: what begins with more is no web archive."""
MOST_UNPACKED = 32 * 2**30
"""Bytes: a gigabyte of pages unpacks to some ten."""
_GZIP = b"\x1f\x8b\x08"
_BEGIN = re.compile(rb"WARC/\d\.\d+\r?\n")
_LONGEST_BEGIN = 12
_HEADING_END = re.compile(rb"\r?\n\r?\n")
_LONGEST_END = 4
_NAMED = re.compile(rb"(?im)^[ \t]*(content-length|warc-type|warc-target-uri)[ \t]*:([^\r\n]*)")
_LINE_ENDS = re.compile(rb"[\r\n]*")
_TOLD = frozenset({b"response", b"resource", b"revisit", b"conversion"})
"""Kinds of records that stand for a page. Their requests name the same URL."""
_UNPACKED_AT_ONCE = 64 * 1024
_MOST_TIMES = 100
"""As long as its packed bytes: web archives are some ten times as long. What takes minutes to unpack is none."""
_UNJUDGED = 64 * 2**20
"""Unpacked bytes of any archive: a few pages may be packed to next to nothing."""
_NOT_WARC = "This is neither a CSV file with a heading nor a web archive."
_PACKED = "This is packed with gzip and holds no web archive. Unpack a list before you import it."
_BROKEN = "The record's heading cannot be read."
_NO_LENGTH = "The record does not say how long it is."
_TOO_LONG = "The record says that it is longer than it is."
_NO_URL = "The record names no URL."
_NOT_GZIP = "A part of the archive is not packed as it should be."
_BOMB = f"The archive unpacks to more than {_MOST_TIMES} times its size. Unpack it before you import it."
_CUT = "The archive ends in the middle of the record."
_SPLIT = "split it and import the parts"
_TOO_MANY = f"The archive has more than {MOST_RECORDS:,} records or other parts: {_SPLIT}."
_TOO_MUCH = f"The archive unpacks to more than {MOST_UNPACKED // 2**30} GiB: {_SPLIT}."

Row = NewEntry | RowProblem


class TooLargeArchive(Invalid):
    """The archive is larger than what is read of one."""


def is_warc(head: bytes) -> bool:
    return head.startswith((_GZIP[:2], b"WARC/"))


class QueueWarc:
    """Takes an archive in pieces of any size and says after each what is known. Records are numbered from 1."""

    def __init__(self, category: str = "", priority: str = "", *, is_bounded: bool = False) -> None:
        """`is_bounded`: raises `TooLargeArchive` behind `MOST_RECORDS` and `MOST_UNPACKED`."""
        self._entry = partial(new_entry, category=category, priority=priority)
        self._is_bounded = is_bounded
        self._packed = _Unpacked(MOST_UNPACKED if is_bounded else None)
        self._held = bytearray()
        self._at = 0
        """Where in what is held the next record begins: what stands before is done with."""
        self._searched = 0
        """Up to where no end of a heading was found."""
        self._skip = 0
        self._number = 0
        self._other_parts = self._lost_bytes = 0
        self._is_archive = False
        self._lost = False
        """Between records, where a heading should be and none is."""
        self._beginning: bytes | None = None
        """The beginning of a packed part, until it can be told whether a record begins with it."""

    @property
    def records(self) -> int:
        """How many were read so far."""
        return self._number

    def feed(self, data: bytes) -> Iterator[list[Row]]:
        """What is in it, a short while of work at a time."""
        for piece in self._packed.push(data):
            rows: list[Row] = []
            try:
                if self._packed.begins:
                    self._count_others(1)
                    if not self._is_archive and self._other_parts > MOST_BEFORE_RECORDS:
                        raise Invalid(_PACKED)
                    rows += self._go_on(b"")
                    self._packed.begins, self._beginning = False, b""
                rows += self._go_on(piece) if piece and self._beginning is not None else self._take(piece)
            except TooLargeArchive:
                yield rows
                raise
            yield rows

    def end(self) -> list[Row]:
        rows = [*self._go_on(b""), *self._take(b"")]
        if not self._is_archive:
            raise Invalid(_PACKED if self._packed.is_packed else _NOT_WARC)
        if self._held[self._at :].strip() or self._skip or self._packed.is_cut:
            rows.append(RowProblem(line=self._number, reason=_CUT))
        return rows

    def _go_on(self, piece: bytes) -> Iterator[Row]:
        """Go on with a packed part. If a record begins with it, the one before is over, whatever that one says."""
        if self._beginning is None:
            return
        self._beginning += piece
        if piece and len(self._beginning) < _LONGEST_BEGIN:
            return
        piece, self._beginning = self._beginning, None
        if _BEGIN.match(piece):
            if self._skip:
                yield self._problem(_TOO_LONG)
            elif self._held[self._at :].strip() and not self._lost:
                yield self._problem(_BROKEN, new=True)
            self._forget()
        yield from self._take(piece)

    def _take(self, piece: bytes | None) -> Iterator[Row]:
        if piece is None:  # what was packed wrongly: the next part begins a record
            yield self._problem(_NOT_GZIP, new=True)
            self._forget()
            self._beginning = None
            return
        if self._skip >= len(piece):
            self._skip -= len(piece)
            return
        self._done_with(self._at)
        self._held += memoryview(piece)[self._skip :]
        self._skip = 0
        while self._at < len(self._held) and self._skip == 0:
            found = self._record()
            if found is None:
                return
            yield from found

    def _forget(self) -> None:
        self._held.clear()
        self._at = self._searched = self._skip = 0
        self._lost = False

    def _done_with(self, end: int) -> None:
        """Only once for each piece that comes: to drop a record at a time copies all that follow, again and again."""
        del self._held[:end]
        self._at, self._searched = 0, max(0, self._searched - end)

    def _record(self) -> list[Row] | None:
        """The next record of what is held; None when more is needed to tell."""
        held, lines = self._held, _LINE_ENDS.match(self._held, self._at)
        self._at = at = lines.end() if lines else self._at
        if not held.startswith(b"WARC/"[: len(held) - at], at):
            return self._look_for_the_next()
        if (end := _HEADING_END.search(held, max(at, self._searched - _LONGEST_END), at + MAX_HEADING)) is None:
            self._searched = min(len(held), at + MAX_HEADING)
            return self._look_for_the_next() if len(held) - at > MAX_HEADING else None
        self._bound(self._number + 1)
        self._number, self._lost, self._is_archive = self._number + 1, False, True
        rows, length = self._read(at, end.start())
        self._at = min(len(held), end.end() + length)
        self._skip = end.end() + length - self._at
        return rows

    def _look_for_the_next(self) -> list[Row] | None:
        """Told once, however long it takes to find one."""
        rows: list[Row] = [] if self._lost else [self._problem(_BROKEN, new=True)]
        self._lost = True
        held, at = self._held, self._at
        if held.startswith(b"WARC/", at):
            # No heading ends here. Of all that begin here only the last may end later: it names none of the others.
            begins = [begin.start() for begin in _BEGIN.finditer(held, at + 1, at + MAX_HEADING)]
            self._at = begins[-1] if begins else at + MAX_HEADING - _LONGEST_BEGIN
            self._count_others(len(begins), self._at - at)
            return rows
        following = _BEGIN.search(held, at + 1)
        self._at = following.start() if following else max(at, len(held) - 16)
        self._count_others(0, self._at - at)
        return rows if following or rows else None

    def _count_others(self, parts: int, lost_bytes: int = 0) -> None:
        self._other_parts += parts
        self._lost_bytes += lost_bytes
        self._bound(self._other_parts + self._lost_bytes // 1024)

    def _bound(self, number: int) -> None:
        if self._is_bounded and number > MOST_RECORDS:
            raise TooLargeArchive(_TOO_MANY)

    def _read(self, at: int, end: int) -> tuple[list[Row], int]:
        named = {name.lower(): value.strip() for name, value in _NAMED.findall(self._held, at, end)}
        length = named.get(b"content-length", b"")
        if not (length.isdigit() and len(length) < 16):
            return [self._problem(_NO_LENGTH)], 0
        if named.get(b"warc-type", b"").lower() not in _TOLD:
            return [], int(length)
        url = named.get(b"warc-target-uri", b"").decode("utf-8", "replace").strip("<>")
        made = self._entry(url) if url else _NO_URL
        return [self._problem(made) if isinstance(made, str) else made], int(length)

    def _problem(self, reason: str, *, new: bool = False) -> RowProblem:
        self._number += new
        return RowProblem(line=self._number, reason=reason)


class _Unpacked:
    """An archive, unpacked: each record is packed by itself, or all of it is, or nothing. None: cannot be unpacked."""

    def __init__(self, most_bytes: int | None) -> None:
        self._most_bytes = most_bytes
        self._plain: bool | None = None
        self._unpacker = zlib.decompressobj(wbits=31)
        self._held = b""
        self._broken = False
        self._packed_bytes, self._unpacked_bytes = 0, 0
        self.begins = False
        """What comes next is the first of a part."""

    @property
    def is_packed(self) -> bool:
        return self._plain is False

    @property
    def is_cut(self) -> bool:
        return self._plain is False and not self._broken and (bool(self._held) or not self._unpacker.eof)

    def push(self, data: bytes) -> Iterator[bytes | None]:
        if self._plain is None:
            self._plain = not data.startswith(_GZIP[:1])
            self.begins = not self._plain
        if self._plain:
            yield data
            return
        self._packed_bytes += len(data)
        data, self._held = self._held + data, b""
        while data:
            if self._broken:
                data = self._find_next(data)
                continue
            if self._unpacker.eof:
                data = data.lstrip(b"\0")
                self._unpacker, self.begins = zlib.decompressobj(wbits=31), True
            try:
                piece = self._unpacker.decompress(data, _UNPACKED_AT_ONCE)
            except zlib.error:
                self._broken, data = True, data[1:]
                yield None
                continue
            self._count(piece)
            yield piece
            data = self._unpacker.unconsumed_tail or self._unpacker.unused_data

    def _count(self, piece: bytes) -> None:
        self._unpacked_bytes += len(piece)
        if self._unpacked_bytes > max(_UNJUDGED, _MOST_TIMES * self._packed_bytes):
            raise TooLargeArchive(_BOMB)
        if self._most_bytes is not None and self._unpacked_bytes > self._most_bytes:
            raise TooLargeArchive(_TOO_MUCH)

    def _find_next(self, data: bytes) -> bytes:
        at = data.find(_GZIP)
        if at < 0:
            self._held = data[-2:]
            return b""
        self._broken, self._unpacker, self.begins = False, zlib.decompressobj(wbits=31), True
        return data[at:]
