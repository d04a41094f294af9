"""What every worker needs, imported once in a process that workers are then forked from.

They start in a fraction of the time and share its memory. Nothing here connects to anything or begins a thread.
"""

import gc
from importlib import import_module

from crawler.lazy_module import load

PARTS = (
    "workers.tasks",
    "celery.app.control",
    "celery.app.events",
    "celery.app.log",
    "celery.apps.worker",
    "celery.backends.redis",
    "celery.concurrency.prefork",
    "celery.concurrency.solo",
    "celery.concurrency.thread",
    "celery.worker.autoscale",
    "celery.worker.components",
    "celery.worker.consumer",
    "celery.worker.consumer.delayed_delivery",
    "kombu.matcher",
    "kombu.pidbox",
    "kombu.transport.redis",
)
"""Modules that every worker would import after the fork."""
ROOMS = ("acquisition", "changes", "crawls", "documents", "engine", "hosts", "judging", "notices", "operating", "pages")
"""Parts of the app that some of the workers of a whole system need at once."""


def warm(*, everything: bool) -> None:
    """Import, and make Celery finish what it does at its first use, in the process that forks.

    `everything`: for the workers of a whole system, which do more than crawl.
    """
    rooms = [f"crawler.bootstrap.{name}" for name in ROOMS] if everything else []
    for name in (*PARTS, *rooms):
        load(name)
    app = import_module("workers.app").app
    app.finalize()
    app.loader.import_default_modules()
    assert app.conf.task_queues  # reads the configuration
    gc.freeze()  # else a child that collects garbage would copy all of it
