"""Start a crawl from any program that has Celery: python enqueue.py PROJECT_ID [BROKER_URL]"""

import sys

from celery import Celery

project_id, *rest = sys.argv[1:]
broker = rest[0] if rest else "redis://localhost:6379/1"
app = Celery(broker=broker, backend=broker)
task = app.send_task("crawler.start_crawl", kwargs={"project_id": project_id}, queue="coordinator")
answer = task.get(timeout=30, propagate=False)
if task.failed():
    code, sentence = answer.args
    sys.exit(f"{code}: {sentence}")
sys.stdout.write(f"crawl {answer}\n")
