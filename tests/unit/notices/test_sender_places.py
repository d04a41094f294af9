"""Places of senders: nobody has more than a few, who waits is hinted when one is free, and nobody else waits."""

from contextlib import ExitStack, suppress
from uuid import UUID

from crawler.handlers.notices.sender_places import MOST_OF_ONE, SenderPlaces, hosts_of


def test_one_name_has_a_few_places_and_the_next_goes_on_when_one_is_free() -> None:
    hinted: list[UUID] = []
    places = SenderPlaces(lambda crawl_id, _: hinted.append(crawl_id))
    with ExitStack() as held:
        first = ExitStack()
        assert all(first.enter_context(places.place({"project", f"host-{n}"})) for n in range(MOST_OF_ONE))
        waits = [UUID(int=1), UUID(int=2), UUID(int=2)]
        assert not any(held.enter_context(places.place({"project", "host"}, one)) for one in waits)
        assert held.enter_context(places.place({"other"})), "others have theirs"
        assert held.enter_context(places.place({"host"})), "who found no place holds none"
        assert hinted == []
        first.close()
    assert hinted == [UUID(int=1), UUID(int=2)], "each once, in their order"
    with places.place({"project"}) as is_free:
        assert is_free
    assert vars(places)["_held"] == vars(places)["_waiting"] == {}, "nothing is kept of who came and went"


def test_a_place_is_free_again_after_a_failure() -> None:
    places = SenderPlaces(lambda *_: None)
    for _ in range(MOST_OF_ONE + 1):
        with suppress(OSError), places.place({"project"}) as is_free:
            assert is_free
            raise OSError


def test_hosts_without_their_ports_and_paths() -> None:
    assert hosts_of(["https://A.test:8443/x", "http://a.test/y", None, "http://[::1]:8/"]) == {"a.test", "::1"}
