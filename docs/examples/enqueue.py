"""Start a crawl from any program that has Celery: python enqueue.py PROJECT_ID

BROKER_URL is redis://… or amqp://…; with the latter, RESULT_URL is the Redis database that answers come from.
"""

import os
import sys

from celery import Celery

broker = os.environ.get("BROKER_URL", "redis://localhost:6379/1")
results = os.environ.get("RESULT_URL") or (broker if "redis" in broker.split(":")[0] else "redis://localhost:6379/1")
app = Celery(broker=broker, backend=results)
task = app.send_task("crawler.start_crawl", kwargs={"project_id": sys.argv[1]}, queue="coordinator")
answer = task.get(timeout=30, propagate=False)
if task.failed():
    code, sentence = answer.args
    sys.exit(f"{code}: {sentence}")
sys.stdout.write(f"crawl {answer}\n")
