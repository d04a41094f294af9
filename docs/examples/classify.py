"""Take jobs from the crawler and classify them: python classify.py [ANSWERS.sqlite]; BROKER_URL is the broker.

A whole consumer: nothing of the crawler is imported. The crawler runs with CRAWLER_CLASSIFY_TASK=example.classify and
sends each job at least once, always under the same job_id; whoever keeps the answers by that id has each of them once.
"""

import os
import sqlite3
import sys

from celery import Celery

answers = sys.argv[1] if len(sys.argv) > 1 else "answers.sqlite"
app = Celery("classify", broker=os.environ.get("BROKER_URL", "redis://localhost:6379/1"))
app.conf.update(
    task_default_queue="classification",
    task_acks_late=True,  # a job is taken off the queue when its answer is kept, not before
    worker_prefetch_multiplier=1,
    broker_transport_options={"visibility_timeout": 600},  # after which a job of a dead worker comes again
    broker_connection_retry_on_startup=True,
)
LABELS = {
    "step-free": ("wheelchair", "step-free", "ramp"),
    "quiet": ("quiet", "calm"),
    "family": ("children", "family"),
}


def keep(job_id: str, url: str, labels: str) -> None:
    with sqlite3.connect(answers, timeout=30) as db:
        db.execute("CREATE TABLE IF NOT EXISTS answers (job_id TEXT PRIMARY KEY, url TEXT, labels TEXT)")
        db.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", (job_id, url, labels))


@app.task(name="example.classify")
def classify(job_id: str, url: str, text: str, **_more: object) -> None:
    """New arguments may come: take what you need and let the rest pass."""
    words = text.casefold()
    keep(job_id, url, " ".join(label for label, signs in LABELS.items() if any(sign in words for sign in signs)))


if __name__ == "__main__":
    app.worker_main(
        ["worker", "-Q", "classification", "-P", "solo", "-l", "info", "--without-gossip", "--without-mingle"]
    )
