"""`/projects/{id}/schedule`: when a project is crawled again, and who is notified.

Decided in `handlers/notices/set_schedule.py`; times and limits in `domain/notices/schedule.py`.
"""

from fastapi import APIRouter, Response
from pydantic import ConfigDict, Field

from crawler.domain.crawls.crawl import CrawlType
from crawler.domain.notices.schedule import ScheduleConfig, ScheduleOverview
from crawler.entrypoints.api.shapes.crawl import CrawlId
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.idempotency import DoOnce
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Body, Wire
from crawler.entrypoints.http.shown_addresses import shown_webhook

router = APIRouter(tags=["schedule"])


class NewSchedule(ScheduleConfig, Body):
    """The whole schedule: what is left out gets its default."""

    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "enabled": True,
                "frequency": "weekly",
                "day_of_week": 0,
                "time": "06:30",
                "timezone": "America/New_York",
                "notification_email": "ops@example.org",
                "notification_webhook": "https://hooks.example.org/crawls",
            }
        }
    )


class TriedChannelShown(Wire):
    channel: str = Field(description="email, webhook or apprise")
    address: str = Field(description="Of Apprise's URLs only a mask")
    delivered: bool
    words: str = Field(description="What the receiver said, or why nothing was sent")


class TriedChannels(Wire):
    """Empty where nobody is to be told."""

    channels: list[TriedChannelShown]


class RunNow(Body):
    """Nothing can be chosen: the project's settings are used."""


@router.get(
    "/projects/{project_id}/schedule",
    summary="A project's schedule, its next runs and its last ones",
    responses=problems(404),
)
def get_schedule(project_id: OwnProject, tools: Tools, caller: Caller) -> ScheduleOverview:
    found = tools.notices.describe_schedule(tools.notices.set_schedule.get(project_id))
    shown = shown_webhook(caller, found.notification_webhook or "") or None
    return found.model_copy(update={"notification_webhook": shown})


@router.put("/projects/{project_id}/schedule", summary="Set, change or disable it", responses=problems(404))
def set_schedule(project_id: OwnProject, body: NewSchedule, tools: Tools) -> ScheduleOverview:
    return tools.notices.describe_schedule(tools.notices.set_schedule(project_id, body.model_dump(mode="json")))


@router.post(
    "/projects/{project_id}/schedule/test",
    summary="Send a test message to everybody whom the project tells",
    responses=problems(404),
)
def test_channels(project_id: OwnProject, tools: Tools) -> TriedChannels:
    tried = tools.notices.try_channels(tools.store.get_project(project_id))
    return TriedChannels(
        channels=[
            TriedChannelShown(
                channel=one.channel, address=one.address, delivered=one.result.delivered, words=one.result.words
            )
            for one in tried
        ]
    )


@router.post(
    "/projects/{project_id}/schedule/run-now",
    status_code=202,
    response_model=CrawlId,
    summary="Crawl now, as the schedule would",
    responses=problems(404, 409),
)
def run_scheduled_crawl(project_id: OwnProject, tools: Tools, once: DoOnce, body: RunNow | None = None) -> Response:
    def start() -> CrawlId:
        tools.hints.ping()
        if website := tools.store.get_project(project_id).website_url:
            tools.crawls.check_reach(website)
        crawl = tools.crawls.start(project_id, crawl_type=CrawlType.SCHEDULED, idempotency_key=once.crawl_key)
        return CrawlId(crawl_id=crawl.id)

    return once(body or RunNow(), start, 202)
