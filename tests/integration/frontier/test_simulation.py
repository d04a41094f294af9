"""A cluster on virtual time: the real frontier, and costs instead of work."""

import pytest
from redis import Redis

from benchmarks.simulation import Cluster, Cores, Costs, Machine, Simulation, Web
from crawler.domain.crawls.frontier import Limits

COSTS = Costs(worker=1.0, worker_kb=0.1, postgres=0.2, postgres_kb=0.0, redis_call=0.1, redis_url=0.01)
AT_ONCE = Limits(10**6, 10**6, max_concurrent=32, delay_ms=0, respect_robots=False)
POLITE = Limits(10**6, 10**6, max_concurrent=256, delay_ms=1000, respect_robots=False)


def one_machine(workers: int) -> Cluster:
    cores = Cores(workers)
    return Cluster([Machine(cores, workers)], postgres=cores, redis=cores, costs=COSTS)


def test_every_page_is_stored_once_and_two_workers_take_about_half_the_time(redis: Redis) -> None:
    web = Web.alike(hosts=4, pages=100, latency=0.001, kilobytes=5.0)
    one, two = (Simulation(redis, one_machine(workers), web, AT_ONCE).run(60) for workers in (1, 2))
    assert one.pages == two.pages == 400
    assert 1.6 < one.seconds / two.seconds <= 2.05
    # 1.5 ms of a worker and 0.2 ms of Postgres a page, and a little of Redis.
    assert one.cores <= 1.0
    assert 400 * 0.0017 < one.seconds < 400 * 0.0017 * 1.5


@pytest.mark.slow
def test_hosts_are_asked_once_in_their_delay_whatever_the_workers(redis: Redis) -> None:
    told = Simulation(redis, one_machine(8), Web.alike(20, 50, 0.01, 5.0), POLITE).run(5.5)
    assert told.pages == pytest.approx(20 * 5.5, rel=0.1)
    assert told.pages <= 20 * 6


@pytest.mark.slow
def test_what_is_slowest_holds_all_the_others(redis: Redis) -> None:
    web = Web.alike(hosts=50, pages=20, latency=0.02, kilobytes=5.0)
    slow = COSTS._replace(postgres=5.0)
    told = Simulation(redis, Cluster([Machine(Cores(8), 8)], Cores(1), Cores(1), slow, 0.001), web, AT_ONCE).run(60)
    assert told.postgres > 0.9, "its one core is busy all the time"
    assert told.per_second == pytest.approx(200, rel=0.1)
    assert told.workers < 1.0


def test_processors_that_share_a_core_take_longer_when_all_are_busy() -> None:
    cores = Cores(2, crowded=1.5)
    assert cores.use(0.0, 3.0) == pytest.approx(0.002), "alone"
    assert cores.use(0.0, 3.0) == pytest.approx(0.003), "beside the first"
    assert cores.busy == pytest.approx(0.005)
