"""What needs a language model or a cloud, and is answered with a clear 501; and how much may be done at once."""

from typing import Any

from fastapi import APIRouter

from crawler.entrypoints.firecrawl.refusals import NotOffered
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.page_waits import MOST_PER_KEY

router = APIRouter()

METHODS = ["GET", "POST", "DELETE", "PATCH", "PUT"]
_NOT_HERE = (
    "extract", "agent", "browser", "parse", "llmstxt", "deep-research", "research", "interact", "feedback",
)  # fmt: skip


@router.get("/concurrency-check")
def check_concurrency() -> Any:
    return {"success": True, "data": {"concurrency": 0, "maxConcurrency": MOST_PER_KEY}}


@router.get("/team/queue-status")
def get_queue_status(tools: Tools, caller: Caller) -> Any:
    if caller.project_ids is None:
        open_ones = len(tools.frontier.open_crawls())
    else:
        open_ones = sum(tools.store.find_running(project_id) is not None for project_id in caller.project_ids)
    data = {"jobsInQueue": open_ones, "activeJobsInQueue": open_ones, "waitingJobsInQueue": 0}
    return {"success": True, **data, "maxConcurrency": MOST_PER_KEY, "mostRecentSuccess": None}


@router.get("/team/{what:path}")
def get_usage(what: str) -> Any:
    raise NotOffered(f"{what}: nothing is counted or billed here.")


def _refuse() -> Any:
    raise NotOffered("This needs a language model or a cloud service, and this server has none.")


def refuse_older() -> Any:
    raise NotOffered("Only version 2 of Firecrawl's API is offered here, at /v2; newer clients speak it.")


for _name in _NOT_HERE:
    router.add_api_route(f"/{_name}", _refuse, methods=METHODS)
    router.add_api_route(f"/{_name}/{{rest:path}}", _refuse, methods=METHODS)
router.add_api_route("/scrape/{job_id}/interact", _refuse, methods=METHODS)
router.add_api_route("/search/{rest:path}", _refuse, methods=METHODS)
