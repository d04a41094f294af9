"""Which of several frontier servers a host belongs to: rendezvous hashing."""

from hashlib import blake2b


def shard_of(name: str, count: int) -> int:
    """The number of the server, from 0 on, for a host or a crawl's id.

    Each server gets a lot for each name, and the highest wins. So a server more takes over a fair part of the names of
    each other, and no name moves between those that were there before.
    """
    return max(range(count), key=lambda number: _lot(name, number))


def _lot(name: str, number: int) -> bytes:
    return blake2b(name.encode(), digest_size=8, salt=number.to_bytes(4, "big")).digest()
