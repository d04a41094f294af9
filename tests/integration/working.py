"""Workers for a service under test: they fetch and finish what it starts, in a thread, until the block ends."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.integration.live_engine import Engine


def _follow_hints(engine: Engine) -> bool:
    """As the coordinator, whoever compares and whoever tells would. Whether something is told from now on."""
    tools, tells = engine.tools, False
    while engine.sent:
        name, given = engine.sent.pop(0)
        if name == "start_crawl":
            tools.crawls.seed(given)
        elif name == "after_crawl":
            tools.changes.diff_crawl(given)
            tools.notices.tell_hook(given)
        tells |= name == "notify"
    return tells


@contextmanager
def working(engine: Engine) -> Iterator[None]:
    stop, failed = threading.Event(), list[BaseException]()

    def work() -> None:
        try:
            tells = False
            while not stop.is_set():
                tells |= _follow_hints(engine)
                engine.shift()
                for crawl_id in engine.tools.frontier.open_crawls():
                    engine.tools.crawls.finish(crawl_id)
                for crawl_id in engine.tools.notices.hooks.due(engine.tools.clock()) if tells else ():
                    engine.tools.notices.tell_hook(crawl_id)
                stop.wait(0.005)
        except BaseException as exc:  # noqa: BLE001 - told by the thread that waits
            failed.append(exc)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(30)
    assert not failed, failed
