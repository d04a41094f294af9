"""Hosts are spread evenly over servers, and few move when there is one more."""

from collections import Counter

from crawler.domain.crawls.shards import shard_of

HOSTS = [f"www.site{n}.example" for n in range(3000)]


def test_hosts_are_spread_evenly() -> None:
    for count in (2, 3, 5):
        sizes = Counter(shard_of(host, count) for host in HOSTS)
        assert sorted(sizes) == list(range(count))
        fair = len(HOSTS) / count
        assert all(0.9 * fair < size < 1.1 * fair for size in sizes.values())


def test_with_a_server_more_hosts_only_move_to_it() -> None:
    before, after = ([shard_of(host, count) for host in HOSTS] for count in (3, 4))
    moved = [new for old, new in zip(before, after, strict=True) if old != new]
    assert set(moved) == {3}
    assert 0.9 < len(moved) / (len(HOSTS) / 4) < 1.1


def test_a_host_has_the_same_server_in_every_process_and_version() -> None:
    assert [shard_of(f"{name}.test", 3) for name in "abcdefgh"] == PLACES
    assert shard_of("", 3) in range(3)
    assert {shard_of(host, 1) for host in HOSTS} == {0}


PLACES = [2, 1, 0, 0, 1, 2, 0, 2]
