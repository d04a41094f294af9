"""Names of our Celery queues, and which task goes through which.

`crawler.fetch` goes to the queue of its lane, `crawler.canary` to the queue it checks. Tasks: `workers/tasks.py`.
"""

from crawler.domain.crawls.frontier import Lane

OWN = {
    "coordinator": "control",
    "compare": "own_compare",
    "notify": "own_notify",
    "ingest": "own_ingest",
    "fetch": "own_fetch",
    "render": "own_render",
}
"""Beside queues that anybody may send to, those of our own messages. Workers take from both in turn, so nobody who
sends a great many can hold up the crawls of others. Every worker on the queue for others is on ours, too."""
LATER = {"coordinator": "control_later", "compare": "compare_later"}
"""Of our own messages those that nobody sits and waits for: runs by a schedule, all but the first of many that one
caller started at once (`CrawlJob.goes_later`), their comparisons, and reports. Who starts a crawl by hand does not wait
behind the hundred that are due in the same minute, or that somebody else has just started."""
ENDS = {"coordinator": "control_ends"}
"""Of those, what ends crawls: behind all that are still to be started, the first of them would end last."""
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
_LATER_TASKS = frozenset({"crawler.run_scheduled_crawl", "crawler.report_crawl"})
OWN_ROUTES = {task: (LATER if task in _LATER_TASKS else OWN)[queue] for task, queue in ROUTES.items()}
"""For our own messages."""
ALL = (*QUEUES, *OWN.values(), *LATER.values(), *ENDS.values())
