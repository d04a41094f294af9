"""`/projects/{id}/schedule`: when a project is crawled again (seed 002)."""

from datetime import datetime
from uuid import UUID

from fastapi import APIRouter, Response
from pydantic import Field

from crawler.bootstrap import App
from crawler.domain.crawls import CrawlType
from crawler.domain.schedules import Schedule, ScheduleConfig, SlotOutcome, upcoming
from crawler.entrypoints.api.crawl_shapes import CrawlId
from crawler.entrypoints.api.idempotency import DoOnce
from crawler.entrypoints.api.owned import OwnProject, Tools
from crawler.entrypoints.api.problems import problems
from crawler.entrypoints.api.wire import Body, Wire

router = APIRouter(tags=["schedule"])

SHOWN_SLOTS = 20


class NewSchedule(ScheduleConfig, Body):
    """The whole schedule: what is left out gets its default."""


class RunNow(Body):
    """Nothing can be chosen: the project's settings are used."""


class SlotShown(Wire):
    slot_at: datetime = Field(description="When the run was due")
    outcome: SlotOutcome
    crawl_id: UUID | None


class ScheduleShown(ScheduleConfig, Wire):
    project_id: UUID
    next_run_at: datetime | None = Field(description="Null while it is disabled")
    described: str = Field(description="The same as a sentence")
    upcoming: list[datetime] = Field(description="The next five runs, if it were enabled; without jitter")
    runs: list[SlotShown] = Field(description="What became of the last ones, newest first")


@router.get(
    "/projects/{project_id}/schedule",
    summary="A project's schedule, its next runs and its last ones",
    responses=problems(404),
)
def get_schedule(project_id: OwnProject, tools: Tools) -> ScheduleShown:
    return _shown(tools, tools.set_schedule.get(project_id))


@router.put("/projects/{project_id}/schedule", summary="Set, change or disable it", responses=problems(404))
def put_schedule(project_id: OwnProject, body: NewSchedule, tools: Tools) -> ScheduleShown:
    return _shown(tools, tools.set_schedule(project_id, body.model_dump(mode="json")))


@router.post(
    "/projects/{project_id}/schedule/run-now",
    status_code=202,
    response_model=CrawlId,
    summary="Crawl now, as the schedule would",
    responses=problems(404, 409),
)
def run_now(project_id: OwnProject, tools: Tools, once: DoOnce, body: RunNow | None = None) -> Response:
    def start() -> CrawlId:
        tools.hints.ping()
        crawl = tools.start_crawl(project_id, crawl_type=CrawlType.SCHEDULED, idempotency_key=once.crawl_key)
        return CrawlId(crawl_id=crawl.id)

    return once(body or RunNow(), start, 202)


def _shown(tools: App, schedule: Schedule) -> ScheduleShown:
    runs = tools.schedules.slots(schedule.project_id, SHOWN_SLOTS)
    return ScheduleShown.model_construct(
        **schedule.config.model_dump(),
        project_id=schedule.project_id,
        next_run_at=schedule.next_run_at,
        described=schedule.config.words,
        upcoming=upcoming(schedule.config, tools.clock()),
        runs=[SlotShown(slot_at=at, outcome=SlotOutcome(outcome), crawl_id=crawl) for at, outcome, crawl in runs],
    )
