"""Objects in S3 and the like, or in a directory, by URL.

Postgres keeps a reference in place of the bytes. It names the object wholly, so whoever reads needs no setting, only
the storage's credentials. Each object is written once under a name of its own and never changed: deleting one that
Postgres refers to no more hurts nobody who writes the same bytes meanwhile.
"""

import asyncio
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID, uuid4

from crawler.errors import NotFound, SettingsError, Unavailable
from crawler.lazy_module import LazyModule

if TYPE_CHECKING:
    import obstore
    from obstore import store as obstore_store
else:
    obstore = LazyModule("obstore")
    obstore_store = LazyModule("obstore.store")

AT_ONCE = 8
PART_BYTES = 8 * 2**20
"""Of an object that is written as it is made. S3 takes 10,000 of them: 80 GB."""
PARTS_AT_ONCE = 2
LISTED_AT_ONCE = 1000
LISTING_SECONDS = 600.0
"""For so many. Parts of a listing may be empty, but not without end, and obstore asks on until it has some."""
LARGEST = 2**30
"""Of an object whose size nobody knows."""
MARK = b"@"
"""Begins a reference. No zstd frame begins so."""
_BETWEEN = "#"
FOLDERS = tuple(f"{number:02x}" for number in range(256))
"""Ids are spread evenly over them."""
_OURS = re.compile("[0-9a-f]{2}/([0-9a-f]{32})-[0-9a-f]{8}").fullmatch
"""Names of objects that `put` writes. Exports, another installation or other people may have theirs beside them."""


class StorageUnavailable(Unavailable):
    """The storage does not respond as it should."""


class ObjectGone(NotFound):
    """What was stored is gone from the object storage; when the page is crawled again, it is stored again."""


class ObjectTooLarge(StorageUnavailable):
    """There is more than was written."""


class Listed(NamedTuple):
    id: UUID
    name: str
    """No two objects of any storage have the same."""
    written_at: datetime


class ObjectStore:
    """All objects below one URL, such as `s3://bucket/folder` or `file:///srv/pages`."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    def put(self, things: Sequence[tuple[UUID, bytes]]) -> list[bytes]:
        """Write the bytes of each id. Returns their references, in the same order."""
        names = [f"{thing_id.hex[:2]}/{thing_id.hex}-{uuid4().hex[:8]}" for thing_id, _ in things]
        with _told(self.url), ThreadPoolExecutor(AT_ONCE) as threads:
            store = _connect(self.url, os.getpid())
            list(threads.map(lambda name, thing: obstore.put(store, name, thing[1]), names, things))
        return [self._reference(name) for name in names]

    def write(self, name: str, chunks: Iterable[bytes]) -> None:
        """Write an object of that name, in place of an older one. It appears when it is complete, or not at all."""
        with _told(self.url):
            store = _connect(self.url, os.getpid())
            # Not by handing over the iterator: what makes the chunks may itself read objects.
            writer = obstore.open_writer(store, name, buffer_size=PART_BYTES, max_concurrency=PARTS_AT_ONCE)
            try:
                for chunk in chunks:
                    writer.write(chunk)
            except BaseException as broken:
                _take_back(writer, broken)
                raise
            writer.close()

    def write_small(self, name: str, content: bytes) -> None:
        """The same with one request."""
        with _told(self.url):
            obstore.put(_connect(self.url, os.getpid()), name, content, use_multipart=False)

    def try_to_write(self) -> None:
        """Raises if objects cannot be written, or not be deleted."""
        with _told(self.url):
            store, name = _connect(self.url, os.getpid()), f"probe-{uuid4().hex}"
            obstore.put(store, name, b"")
            obstore.delete(store, name)

    def delete(self, names: Sequence[str]) -> None:
        """Delete objects of this store. Those that are gone already do not matter."""
        with _told(self.url), suppress(FileNotFoundError):
            for start in range(0, len(names), LISTED_AT_ONCE):
                obstore.delete(_connect(self.url, os.getpid()), names[start : start + LISTED_AT_ONCE])

    def list_folder(self, folder: str) -> list[Listed]:
        """All objects that `put` wrote into one of the `FOLDERS`."""
        found: list[Listed] = []
        with _told(self.url):
            listing = _Listing(self.url)
            for some in listing.parts(obstore.list(_connect(self.url, os.getpid()), folder, chunk_size=LISTED_AT_ONCE)):
                for one in some:
                    listing.goes_on(one["path"])
                    if (ours := _OURS(one["path"])) and ours[0].startswith(folder):
                        found.append(Listed(UUID(ours[1]), ours[0], one["last_modified"]))
        return found

    def holds(self, reference: bytes) -> bool:
        """Whether the reference names this place, spelled alike. One that does not may still mean it."""
        return is_reference(reference) and _split(reference)[0] == self.url

    def _reference(self, name: str) -> bytes:
        return MARK + f"{self.url}{_BETWEEN}{name}".encode()


class _Listing:
    """Notices a listing that goes in circles: the storage gives the same continuation token again and again.

    One name is remembered, a later one each time twice as many were seen (Brent). So it takes no memory, and the order
    does not matter: directories have none, nor have some storages.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._seen = 0
        self._until = 1
        self._remembered: str | None = None

    def parts(self, stream: Any) -> Iterator[Any]:
        """Read as a coroutine, because only that can be given up."""

        async def following() -> Any:
            async with asyncio.timeout(LISTING_SECONDS):
                return await anext(stream, None)

        try:
            while (part := asyncio.run(following())) is not None:
                yield part
        except TimeoutError as exc:
            raise StorageUnavailable(f"The object storage at {self._url} lists nothing, and does not end.") from exc

    def goes_on(self, name: str) -> None:
        if name == self._remembered:
            raise StorageUnavailable(f"The object storage at {self._url} lists the same objects again and again.")
        self._seen += 1
        if self._seen == self._until:
            self._remembered, self._until = name, 2 * self._until


def is_reference(content: bytes) -> bool:
    return content[:1] == MARK


def read_object(reference: bytes, most: int = LARGEST) -> bytes:
    """The object's bytes. One that says it is larger than `most` is not read: it would fill the memory."""
    url, name = _split(reference)
    with _told(url):
        try:
            found = obstore.get(_connect(url, os.getpid()), name)
        except FileNotFoundError as exc:
            raise ObjectGone from exc
        if found.meta["size"] > most:
            raise ObjectTooLarge(f"An object at {url} is larger than what was written.")
        return bytes(found.bytes())


def name_in(reference: bytes) -> str:
    """The object's name, which is its own whatever the place is called."""
    return _split(reference)[1]


def id_in(reference: bytes) -> UUID | None:
    """The id whose bytes `put` wrote there."""
    ours = _OURS(name_in(reference))
    return UUID(ours[1]) if ours else None


def store_of(reference: bytes) -> ObjectStore:
    return ObjectStore(_split(reference)[0])


def _split(reference: bytes) -> tuple[str, str]:
    url, _, name = reference.removeprefix(MARK).decode().rpartition(_BETWEEN)
    return url, name


@lru_cache(maxsize=8)
def _connect(url: str, _pid: int) -> Any:
    """A client for each process: a forked child must not use its parent's."""
    if url.startswith("file:"):
        return obstore_store.from_url(url, mkdir=True)
    # A storage of one's own may have no TLS. Whoever is not answered in time tries again later, as with Postgres.
    client: Any = {"timeout": "20s", "connect_timeout": "5s", "allow_http": True}
    retries: Any = {"max_retries": 3, "retry_timeout": timedelta(seconds=30)}
    return obstore_store.from_url(url, client_options=client, retry_config=retries)


@contextmanager
def _told(url: str) -> Iterator[None]:
    try:
        yield
    except ImportError as exc:
        raise SettingsError(f"To keep anything at {url}, install 'crawl-watcher[objects]'.") from exc
    except (obstore.exceptions.BaseError, OSError) as exc:
        raise StorageUnavailable(
            f"The object storage at {url} does not answer as it should: {_first_line(exc)}"
        ) from exc


def _take_back(writer: Any, broken: BaseException) -> None:
    """Let the storage drop what it has of an object that broke off. What broke it is told, not that this fails."""
    try:
        writer.__exit__(type(broken), broken, broken.__traceback__)
    except (obstore.exceptions.BaseError, OSError) as exc:
        broken.add_note(f"What was uploaded of it was not taken back: {_first_line(exc)}")


def _first_line(exc: Exception) -> str:
    return str(exc).partition("\n")[0][:300]
