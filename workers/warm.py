"""What every worker needs, imported once in a process that workers are then forked from.

They start in a fraction of the time and share its memory. Nothing here connects to anything or begins a thread.
"""

import gc

from crawler.lazy_module import load, without

PARTS = (
    "workers.announce",
    "workers.reconcile_timer",
    "workers.task_arguments",
    "workers.task_contract",
    "crawler.bootstrap.engine",
    "crawler.handlers.engine.work_shift",
    "celery.app.control",
    "celery.app.events",
    "celery.app.log",
    "celery.apps.worker",
    "celery.backends.redis",
    "celery.concurrency.prefork",
    "celery.concurrency.solo",
    "celery.worker.autoscale",
    "celery.worker.components",
    "celery.worker.consumer",
    "celery.worker.consumer.delayed_delivery",
    "kombu.matcher",
    "kombu.pidbox",
    "kombu.transport.redis",
)
"""Modules that every worker would import after the fork. None of them reads the settings."""
ROOMS = ("acquisition", "changes", "crawls", "documents", "engine", "hosts", "judging", "notices", "operating", "pages")
"""Parts of the app that some of the workers of a whole system need at once."""


def prepare() -> None:
    """Import what needs no settings. Servers may still be starting meanwhile."""
    with without("yaml", "opentelemetry"):  # a format and metrics that nobody uses
        load("kombu.serialization")
        load("redis")
    for name in PARTS:
        load(name)


def warm(*, everything: bool) -> None:
    """Import, and make Celery finish what it does at its first use, in the process that forks.

    `everything`: for the workers of a whole system, which do more than crawl.
    """
    prepare()
    rooms = [f"crawler.bootstrap.{name}" for name in ROOMS] if everything else []
    for name in ("workers.tasks", *rooms, *(["celery.concurrency.thread"] if everything else [])):
        load(name)
    app = load("workers.app").app
    app.finalize()
    app.loader.import_default_modules()
    assert app.conf.task_queues  # reads the configuration
    gc.freeze()  # else a child that collects garbage would copy all of it
