"""A gigabyte in a megabyte or less, packed without ever holding the gigabyte."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import repeat

import brotli
import zstandard

MEGABYTE = 1024 * 1024
GIGABYTE = 1024 * MEGABYTE
_PART = 16 * MEGABYTE
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"


def _gzip(count: int) -> Iterator[bytes]:
    """A full flush makes each part stand for itself, so one part can be repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    part = packer.compress(bytes(_PART)) + packer.flush(zlib.Z_FULL_FLUSH)
    yield _GZIP_HEAD
    yield from repeat(part, count // _PART)
    yield b"\x03\x00"


def _brotli(count: int) -> Iterator[bytes]:
    packer = brotli.Compressor(quality=1)
    for _ in range(count // MEGABYTE):
        yield packer.process(bytes(MEGABYTE))
    yield packer.finish()


def _zstd(count: int) -> Iterator[bytes]:
    yield from repeat(zstandard.ZstdCompressor().compress(bytes(_PART)), count // _PART)


_MAKERS: dict[str, Callable[[int], Iterator[bytes]]] = {
    "gzip": _gzip,
    "br": _brotli,
    "zstd": _zstd,
}


@cache
def bomb(encoding: str) -> bytes:
    """What a server sends under this Content-Encoding."""
    return b"".join(_MAKERS[encoding](GIGABYTE))


def nothing_packed(count: int) -> bytes:
    """Three times gzip. Within the first two are `count` bytes, blocks of nothing, so that the third gives no byte."""
    empty_blocks = b"\0\0\0\xff\xff" * MEGABYTE
    inner = zlib.compressobj(9, zlib.DEFLATED, -15)
    head = inner.compress(_GZIP_HEAD) + inner.flush(zlib.Z_FULL_FLUSH)
    part = inner.compress(empty_blocks) + inner.flush(zlib.Z_FULL_FLUSH)
    return gzip.compress(_GZIP_HEAD + head + part * (count // len(empty_blocks)))
