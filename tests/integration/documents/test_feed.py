"""The feed's order is that of the commits: a reader that goes on from where it was misses nothing, ever."""

import random
import threading
import time
from uuid import UUID, uuid4

import pytest

from crawler.adapters.documents.feed import move_to_end
from crawler.adapters.postgres.database import cursor, transaction
from tests.integration.live_engine import Engine

WRITERS = 6
ROUNDS = 25


def add_documents(crawler: Engine, count: int) -> tuple[UUID, list[UUID]]:
    project = crawler.project("http://example.org/")
    ids = [uuid4() for _ in range(count)]
    with transaction(crawler.tools.database) as connection, cursor(connection) as db:
        for number, found in enumerate(ids):
            db.execute(
                "INSERT INTO documents (id, project_id, url, normalized_url, status) "
                "VALUES (%s, %s, %s, %s, 'ingested')",
                (found, project.id, f"http://example.org/{number}", f"http://example.org/{number}"),
            )
    return project.id, ids


@pytest.mark.slow
def test_a_reader_beside_many_writers_misses_nothing_and_sees_the_order_of_commits(crawler: Engine) -> None:
    project, ids = add_documents(crawler, 40)
    committed: list[tuple[int, UUID]] = []
    book = threading.Lock()
    done = threading.Event()

    def write(seed: int) -> None:
        dice = random.Random(seed)
        for _ in range(ROUNDS):
            chosen = sorted(dice.sample(ids, 3))
            with transaction(crawler.tools.database) as connection, cursor(connection) as db:
                db.execute("SELECT 1 FROM documents WHERE id = ANY(%s) ORDER BY id FOR UPDATE", (chosen,))
                move_to_end(db, [(project, found) for found in chosen])
                db.execute("SELECT feed_seq, id FROM documents WHERE id = ANY(%s)", (chosen,))
                given = list(db)
                time.sleep(dice.random() * 0.01)  # between its number and its commit
            with book:
                committed.extend(given)

    seen: list[tuple[int, UUID]] = []

    def read() -> None:
        after = 0
        while True:
            over = done.is_set()
            for entry in crawler.tools.documents.reader.feed(project, after, 7):
                assert entry.seq > after, "never back"
                after = entry.seq
                seen.append((entry.seq, entry.document.id))
            if over and not crawler.tools.documents.reader.has_after(project, after):
                return

    writers = [threading.Thread(target=write, args=(seed,)) for seed in range(WRITERS)]
    reader = threading.Thread(target=read)
    for thread in (reader, *writers):
        thread.start()
    for thread in writers:
        thread.join(60)
    done.set()
    reader.join(60)
    assert not reader.is_alive()
    assert len(committed) == WRITERS * ROUNDS * 3
    assert len({seq for seq, _ in committed}) == len(committed), "no number twice"
    assert set(seen) <= set(committed)
    # A document stands where it changed last: that last place of each was seen, whenever it was committed.
    last = {found: seq for seq, found in sorted(committed)}
    assert {found: seq for seq, found in seen} == last
    assert [seq for seq, _ in seen] == sorted(seq for seq, _ in seen)


def test_no_number_is_given_before_smaller_ones_are_committed(crawler: Engine) -> None:
    project, ids = add_documents(crawler, 2)
    order: list[str] = []
    with transaction(crawler.tools.database) as connection, cursor(connection) as db:
        move_to_end(db, [(project, ids[0])])

        def second() -> None:
            with transaction(crawler.tools.database) as other, cursor(other) as another:
                move_to_end(another, [(project, ids[1])])
                order.append("second has its number")

        waiting = threading.Thread(target=second)
        waiting.start()
        waiting.join(0.3)
        assert crawler.tools.documents.reader.feed(project, 0, 10) == []
        order.append("first commits")
    waiting.join(10)
    assert order == ["first commits", "second has its number"]
    assert [entry.document.id for entry in crawler.tools.documents.reader.feed(project, 0, 10)] == ids


def test_other_projects_do_not_wait(crawler: Engine) -> None:
    one, first = add_documents(crawler, 1)
    other, second = add_documents(crawler, 1)
    with transaction(crawler.tools.database) as connection, cursor(connection) as db:
        move_to_end(db, [(one, first[0])])
        with transaction(crawler.tools.database) as beside, cursor(beside) as another:
            another.execute("SET LOCAL lock_timeout = '5s'")
            move_to_end(another, [(other, second[0])])
    assert (
        len(crawler.tools.documents.reader.feed(one, 0, 10))
        == len(crawler.tools.documents.reader.feed(other, 0, 10))
        == 1
    )
