"""News of a project's crawls: numbered without a gap whoever tells it, bounded, and never in a crawl's way."""

import threading
from uuid import uuid4

import pytest

from crawler.adapters.operating import event_stream
from crawler.adapters.operating.event_batch import Batch, batch_of, gap
from crawler.adapters.operating.event_stream import EventStream, StreamKeys
from tests.integration.live_engine import Engine

FRAME_LIMIT = 126


def test_no_news_is_lost_or_numbered_twice_when_many_tell_it_at_once(crawler: Engine) -> None:
    crawl = crawler.start(crawler.project("http://127.0.0.1/"))
    before = crawler.tools.events.read(crawl.id)[-1].seq

    def tell(teller: int) -> None:
        for n in range(50):
            crawler.tools.events.publish_many(crawl.id, "page", [{"teller": teller, "n": n}] * 3)

    tellers = [threading.Thread(target=tell, args=(n,)) for n in range(4)]
    for teller in tellers:
        teller.start()
    for teller in tellers:
        teller.join()
    told = crawler.tools.events.read(crawl.id, before)
    assert [event.seq for event in told] == list(range(before + 1, before + 601))
    for teller_ in range(4):
        assert [event.data["n"] for event in told if event.data["teller"] == teller_][::3] == list(range(50))


def test_two_crawls_of_a_project_are_numbered_together_and_read_apart(crawler: Engine) -> None:
    project = crawler.project("http://127.0.0.1/")
    first = crawler.start(project)
    crawler.tools.crawls.control.cancel(first.id)
    second = crawler.start(project)
    one, two = crawler.tools.events.read(first.id), crawler.tools.events.read(second.id)
    assert [event.type for event in one] == ["status", "completed"]
    assert [event.type for event in two] == ["status"]
    assert two[0].seq == one[-1].seq + 1
    assert crawler.tools.events.latest(second.id, "completed") == []


def test_the_stream_is_bounded(crawler: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "MAX_ENTRIES", 100)
    crawl = crawler.start(crawler.project("http://127.0.0.1/"))
    for n in range(1000):
        crawler.tools.events.publish(crawl.id, "page", {"n": n})
    keys = StreamKeys.of(crawl.project_id)
    assert crawler.tools.redis.xlen(keys.stream) < 400
    assert 0 < crawler.tools.redis.ttl(keys.stream) <= event_stream.KEEP_SECONDS
    assert crawler.tools.redis.ttl(keys.counter) > event_stream.KEEP_SECONDS, "or old numbers would mean new events"


def test_numbers_never_begin_again_when_redis_has_forgotten_them(crawler: Engine) -> None:
    crawl = crawler.start(crawler.project("http://127.0.0.1/"))
    before = crawler.tools.events.read(crawl.id)[-1].seq
    crawler.tools.redis.flushdb()
    crawler.tools.events.publish(crawl.id, "page", {})
    after = crawler.tools.events.read(crawl.id)[-1].seq
    assert before < after < 2**53, "JavaScript's numbers are exact so far"


def test_news_that_cannot_be_told_stops_nobody(crawler: Engine) -> None:
    crawler.tools.events.publish(uuid4(), "page", {})  # a crawl that was deleted a moment ago
    broken = EventStream(crawler.tools.redis, lambda _: uuid4(), prefix="broken")
    project = uuid4()
    broken._projects[project] = project
    crawler.tools.redis.set(StreamKeys.of(project, "broken").stream, "no stream")
    broken.publish(project, "page", {})


@pytest.mark.parametrize("length", [0, 125, 126, 65535, 65536])
def test_frames_are_what_the_protocol_asks_for(length: int) -> None:
    frames = Batch(1, (b"x" * length,), (1,)).frames
    head = frames[: len(frames) - length]
    assert head[0] == 0x81, "one whole text message"
    told = head[1]
    assert told < 0x80, "a server masks nothing"
    if length < FRAME_LIMIT:
        assert (told, len(head)) == (length, 2)
    else:
        size = {126: 2, 127: 8}[told]
        assert (int.from_bytes(head[2:], "big"), len(head)) == (length, 2 + size)
        assert told == (126 if length < 2**16 else 127)


def entry(last: int, count: int) -> tuple[bytes, dict[bytes, bytes]]:
    fields = {b"type": b"page", b"at": b"now", b"crawl": uuid4().bytes, b"count": str(count).encode()}
    return f"{last}-0".encode(), {**fields, b"items": b"[" + b",".join([b"{}"] * count) + b"]"}


def test_a_batch_tells_what_is_missing_before_and_between_its_entries() -> None:
    batch = batch_of([entry(10, 3), entry(20, 2)], after=5)
    assert batch.numbers == (7, 8, 9, 10, 18, 19, 20)
    assert batch.messages[0].startswith(b'{"seq":7,"type":"gap","crawl_id":null,')
    assert batch.messages[0].endswith(b'"data":{"after":5,"before":8}}')
    assert b'"type":"gap"' in batch.messages[4]
    assert batch_of([entry(10, 3)], after=0).numbers == (8, 9, 10), "whoever asks for all that is kept misses nothing"
    assert batch_of([entry(10, 3)], after=8).numbers == (9, 10), "a number may be in the middle of an entry"


def test_a_batch_ends_where_others_have_come_to_and_can_be_told_in_parts() -> None:
    batch = batch_of([entry(10, 3), entry(14, 4)], after=7, until=12)
    assert (batch.numbers, batch.last) == ((8, 9, 10, 11, 12), 12)
    first, rest = batch.parts(2)
    assert (first.numbers, first.last) == ((8, 9), 9)
    assert rest is not None
    assert (rest.numbers, rest.last) == ((10, 11, 12), 12)
    assert batch.parts(5) == (batch, None)


def test_a_batch_tells_nobody_what_they_have_seen_but_that_it_was_forgotten() -> None:
    batch = batch_of([entry(10, 3)], after=7)
    assert batch.since(7) is batch
    assert (new := batch.since(9)) is not None
    assert new.numbers == (10,)
    assert batch.since(10) is batch.since(11) is None
    lost = gap(after=50, last=10)
    assert lost.since(50) is lost
    assert gap(after=5, last=10).since(10) is None
