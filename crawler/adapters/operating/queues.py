"""Names of our Celery queues, and which task goes through which.

`crawler.fetch` goes to the queue of its lane, `crawler.canary` to the queue it checks. Tasks: `workers/tasks.py`.
"""

from crawler.domain.crawls.frontier import Lane

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
