"""Runs a worker or beat in a process that was forked from a warm one, as `celery -A workers.app worker|beat` would.

Celery's own command line imports every plugin, Flower too, and keeps it. The options are the same here, and
`--at-most KIND=N` limits how many tasks of a kind (a queue, or `embed`) are done at once.
"""

import argparse
import sys

from celery.utils.nodenames import default_nodename, host_format

from workers.app import app
from workers.places import places
from workers.pool_size import PoolSize

HEARTBEAT_SECONDS = 10.0
"""Between two signs of life for monitors. Celery's two seconds are most of what a worker at rest does."""


def main(given: list[str]) -> int:
    options = argparse.ArgumentParser(prog="celery", allow_abbrev=False)
    options.add_argument("-A", "--app", choices=["workers.app"], required=True)
    kinds = options.add_subparsers(dest="kind", required=True)
    worker = kinds.add_parser("worker", allow_abbrev=False)
    worker.add_argument("-n", "--hostname")
    worker.add_argument("-Q", "--queues")
    worker.add_argument("-P", "--pool", default="prefork")
    worker.add_argument("-c", "--concurrency", type=int)
    worker.add_argument("--autoscale", metavar="MAX,MIN")
    worker.add_argument("--at-most", metavar="KIND=N", type=_limit, action="append", default=[])
    worker.add_argument("--without-gossip", action="store_true")
    worker.add_argument("--without-mingle", action="store_true")
    beat = kinds.add_parser("beat", allow_abbrev=False)
    beat.add_argument("-S", "--scheduler")
    beat.add_argument("--pidfile")
    for kind in (worker, beat):
        kind.add_argument("-l", "--loglevel", default="info", type=str.upper)
    chosen = options.parse_args(given)
    return _work(chosen) if chosen.kind == "worker" else _beat(chosen)


def _limit(given: str) -> tuple[str, int]:
    queue, _, most = given.partition("=")
    return queue, int(most)


def _work(chosen: argparse.Namespace) -> int:
    places.limit(dict(chosen.at_most))
    worker = app.Worker(
        hostname=host_format(default_nodename(chosen.hostname)),
        queues=chosen.queues,
        pool_cls=chosen.pool,
        concurrency=chosen.concurrency,
        autoscale=chosen.autoscale,
        autoscaler_cls=PoolSize,
        loglevel=chosen.loglevel,
        without_gossip=chosen.without_gossip,
        without_mingle=chosen.without_mingle,
        heartbeat_interval=HEARTBEAT_SECONDS,
    )
    worker.start()
    return int(worker.exitcode or 0)


def _beat(chosen: argparse.Namespace) -> int:
    app.Beat(scheduler=chosen.scheduler, pidfile=chosen.pidfile or None, loglevel=chosen.loglevel, quiet=True).run()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
