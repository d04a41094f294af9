"""Which hosts get a browser of their own for each page."""

from crawler.adapters.browser.remembered_hosts import MOST_REMEMBERED, REMEMBERED_SECONDS, RememberedHosts


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_a_host_is_remembered_for_a_while_with_all_its_pages() -> None:
    clock = Clock()
    hosts = RememberedHosts(clock)
    hosts.note("https://a.example/one?q#f")
    assert hosts.has("https://a.example/two")
    assert not hosts.has("https://b.example/one")
    clock.now += REMEMBERED_SECONDS
    assert not hosts.has("https://a.example/two")


def test_no_more_than_so_many_are_remembered_the_latest_of_them() -> None:
    hosts = RememberedHosts()
    for number in range(2 * MOST_REMEMBERED):
        hosts.note(f"http://h{number}.example/")
    assert not hosts.has("http://h0.example/")
    assert hosts.has(f"http://h{2 * MOST_REMEMBERED - 1}.example/")
    assert len(hosts._until) == MOST_REMEMBERED
