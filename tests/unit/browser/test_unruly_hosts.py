"""Which hosts get a browser of their own for each page."""

from crawler.adapters.browser.unruly_hosts import MOST_REMEMBERED, REMEMBERED_SECONDS, UnrulyHosts


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_host_is_remembered_for_a_while_with_all_its_pages() -> None:
    clock = Clock()
    unruly = UnrulyHosts(clock)
    unruly.note("https://a.example/one?q#f")
    assert unruly.has("https://a.example/two")
    assert not unruly.has("https://b.example/one")
    clock.now += REMEMBERED_SECONDS
    assert not unruly.has("https://a.example/two")


def test_no_more_than_so_many_are_remembered_the_latest_of_them() -> None:
    unruly = UnrulyHosts()
    for number in range(2 * MOST_REMEMBERED):
        unruly.note(f"http://h{number}.example/")
    assert not unruly.has("http://h0.example/")
    assert unruly.has(f"http://h{2 * MOST_REMEMBERED - 1}.example/")
    assert len(unruly._until) == MOST_REMEMBERED
