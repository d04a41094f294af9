"""Names of our Celery queues, and which task goes through which.

`crawler.fetch` goes to the queue of its lane, `crawler.canary` to the queue it checks. Tasks: `workers/tasks.py`.
"""

from crawler.domain.crawls.frontier import Lane

COORDINATOR = "coordinator"
"""Where other services send starts of crawls."""
OWN = "control"
"""What we send to coordinators ourselves. They take messages from both in turn, so nobody who sends a great many can
hold up the crawls of others. Every worker on the queue for others is on this one, too."""
QUEUES = ("coordinator", "compare", "notify", "fetch", "render", "ingest")
LANE_QUEUE = {Lane.HTTP: "fetch", Lane.BROWSER: "render"}
ROUTES = {
    "crawler.start_crawl": "coordinator",
    "crawler.finish_crawl": "coordinator",
    "crawler.reconcile": "coordinator",
    "crawler.tend_large_crawl": "compare",
    "crawler.diff_crawl": "compare",
    "crawler.report_crawl": "compare",
    "crawler.run_scheduled_crawl": "coordinator",
    "crawler.run_queue": "coordinator",
    "crawler.notify": "notify",
    "crawler.resend_notice": "notify",
    "crawler.extract_entries": "ingest",
    "crawler.ingest_document": "ingest",
    "crawler.ingest_documents": "ingest",
    "crawler.embed_documents": "ingest",
}
"""For everybody."""
OWN_ROUTES = {task: OWN if queue == COORDINATOR else queue for task, queue in ROUTES.items()}
"""For our own messages."""
