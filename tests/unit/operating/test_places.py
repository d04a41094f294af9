import os
from collections.abc import Callable

from workers.places import REPORT, Places, places


def elsewhere(look: Callable[[], bool]) -> bool:
    """What it finds in a process that was forked from this one, as the processes of a pool are."""
    pid = os.fork()
    if pid == 0:
        os._exit(int(look()))
    return bool(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def takes(given: Places, queue: str) -> bool:
    with given.take(queue) as is_free:
        return is_free


def test_a_queue_has_as_many_places_as_it_is_given_and_others_have_no_limit() -> None:
    some = Places({})
    some.limit({"ingest": 1})
    with some.take("ingest") as is_free:
        assert is_free
        assert not elsewhere(lambda: takes(some, "ingest"))
        assert elsewhere(lambda: takes(some, "compare"))
    assert elsewhere(lambda: takes(some, "ingest"))


def test_reports_never_have_all_processes_of_a_worker_however_it_was_started() -> None:
    with places.take(REPORT) as is_free:
        assert is_free
        assert not elsewhere(lambda: takes(places, REPORT))


def test_the_place_of_a_process_that_dies_is_free() -> None:
    some = Places({"ingest": 1, "compare": 2})
    pid = os.fork()
    if pid == 0:
        with some.take("ingest"):
            os.kill(os.getpid(), 9)
    os.waitpid(pid, 0)
    assert takes(some, "ingest")


def test_a_worker_that_was_forked_from_a_warmed_process_has_places() -> None:
    """All its open files were closed."""
    some = Places({"ingest": 1})

    def in_a_new_worker() -> bool:
        os.closerange(3, 4096)
        some.open()
        with some.take("ingest") as is_free:
            return is_free and not elsewhere(lambda: takes(some, "ingest"))

    assert elsewhere(in_a_new_worker)
