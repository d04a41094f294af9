"""What a process remembers for a while."""

from crawler.domain.engine.remembered import MOST_REMEMBERED, REMEMBERED_SECONDS, Remembered


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_host_is_remembered_for_a_while_or_until_it_is_forgotten() -> None:
    clock = Clock()
    hosts = Remembered[str](clock)
    hosts.add("a.example")
    hosts.add("b.example")
    assert hosts.has("a.example")
    assert not hosts.has("c.example")
    hosts.forget("b.example")
    assert hosts.now() == {"a.example"}
    clock.now += REMEMBERED_SECONDS
    assert not hosts.has("a.example")
    assert hosts.now() == set()


def test_no_more_than_so_many_are_remembered_the_latest_of_them() -> None:
    hosts = Remembered[str](Clock())
    for number in range(2 * MOST_REMEMBERED):
        hosts.add(f"h{number}.example")
    assert not hosts.has("h0.example")
    assert len(hosts.now()) == MOST_REMEMBERED
