"""Snapshots of pages."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

from crawler.domain.engine.snapshots import decompressed, snapshot

NOW = datetime(2026, 11, 18, tzinfo=UTC)


def test_threads_can_make_them_at_the_same_time() -> None:
    bodies = [b"".join(b"<p>%d</p>" % (number * turn) for number in range(20_000)) for turn in range(1, 9)]
    with ThreadPoolExecutor(4) as threads:
        made = list(threads.map(lambda body: snapshot(body, "text/html", NOW), bodies * 20))
    assert [decompressed(one.content, one.byte_length) for one in made] == bodies * 20
