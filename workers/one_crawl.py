"""The workers of one crawl: coordinator, fetchers, perhaps a renderer. `python -m workers.one_crawl FETCHERS [render]`.

The imports take a second, more than everything else before the first request. So they are done once and all workers are
forked from here; Celery's own command would also import its plugins. This process only waits: it forwards signals, and
when one worker ends it ends the others.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from crawler.lazy_module import load
from workers.warm import warm

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


def main(fetchers: int, *, render: bool) -> int:
    warm(everything=False)
    renders = render and _can_render()
    # Without a browser the control worker takes the render queue, so that no URL waits for one.
    queues = ["coordinator", "compare", "notify", *(["render"] if render and not renders else [])]
    children = {
        _fork(lambda: _control(queues)),
        _fork(lambda: _work("fetch", ["fetch"], pool_cls="prefork", concurrency=fetchers)),
    }
    if renders:
        children.add(_fork(lambda: _work("render", ["render"], pool_cls="prefork", concurrency=1)))
    told: list[int] = []

    def hand_on(number: int, _: object = None) -> None:
        told.append(number)
        for pid in children:
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    for number in SIGNALS:
        signal.signal(number, hand_on)
    ended_by_itself = False
    while children:
        pid, _ = os.wait()
        children.discard(pid)
        if not told:
            ended_by_itself = True
            hand_on(signal.SIGTERM)
    return int(ended_by_itself)


def _can_render() -> bool:
    from crawler.adapters.browser.fetcher import why_unavailable  # noqa: PLC0415 - see `main`
    from workers.app import settings  # noqa: PLC0415

    return why_unavailable(settings.chromium, settings.data_dir) is None


def _fork(work: Callable[[], int]) -> int:
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = work()
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
            if isinstance(end.code, str):
                sys.stderr.write(end.code + "\n")
        finally:
            if sys.exc_info()[0] is not None:
                traceback.print_exc()  # the process ends here, so nothing else would print it
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    return pid


def _control(queues: list[str]) -> int:
    """The coordinator. It has nothing to do before the end of the crawl, but then somebody waits for it."""
    for room in ("crawls", "changes"):
        load(f"crawler.bootstrap.{room}")
    return _work("control", queues, pool_cls="solo")


def _work(name: str, queues: list[str], **options: Any) -> int:
    from celery.utils.nodenames import default_nodename, host_format  # noqa: PLC0415 - see `main`

    from workers.app import app  # noqa: PLC0415

    app.conf.update(worker_send_task_events=False, task_send_sent_event=False, canary_queues=())  # no monitor listens
    app.conf.tends_schedules = False  # these workers serve one crawl only
    worker = app.Worker(
        hostname=host_format(default_nodename(f"{name}-{os.getppid()}@%h")),
        queues=queues,
        loglevel="INFO",
        without_gossip=True,
        without_mingle=True,
        **options,
    )
    worker.start()
    return int(worker.exitcode or 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), render="render" in sys.argv[2:]))
