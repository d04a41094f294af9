"""Health checks and metrics: liveness, readiness of Postgres and Redis, Prometheus metrics.

The checks are in `entrypoints/doctor.py`, the metrics in `adapters/operating/metrics_reader.py`.
"""

from typing import Any

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from pydantic import Field

from crawler.entrypoints.doctor import diagnose, queue_checks
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import WholeSystem
from crawler.entrypoints.http.shapes import Wire

router = APIRouter(tags=["health"])


class Alive(Wire):
    status: str = "ok"


class CheckShown(Wire):
    name: str
    ok: bool
    message: str
    fix: str | None = Field(description="What mends it")
    required: bool = Field(description="False: things work without it, only less well")


class Health(Wire):
    status: str = Field(description="ok or failing")
    checks: list[CheckShown]


_FAILING: dict[int | str, dict[str, Any]] = {
    503: {
        "description": "A server is missing; without Postgres the answer is a problem, as keys are kept there",
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/Health"}},
            "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}},
        },
    }
}


@router.get("/health/live", summary="The process answers; needs no key")
async def get_liveness() -> Alive:
    """Without a thread: those may all wait for a server that hangs."""
    return Alive()


@router.get(
    "/health", summary="State of each server behind the service, and whether each queue is consumed", responses=_FAILING
)
def get_health(tools: Tools, response: Response) -> Health:
    checks = diagnose(tools, start_browser=False)
    if all(check.ok for check in checks if check.name == "redis"):  # queues are read from Redis
        checks += queue_checks(tools)
    healthy = all(check.ok or not check.required for check in checks)
    if not healthy:
        response.status_code = 503
    shown = [CheckShown(**check._asdict()) for check in checks]
    return Health(status="ok" if healthy else "failing", checks=shown)


@router.get(
    "/metrics",
    dependencies=[WholeSystem],
    summary="Prometheus metrics of the whole system",
    response_class=Response,
    responses={200: {"description": "In Prometheus' text format", "content": {"text/plain": {}}}},
)
def get_metrics(tools: Tools) -> Response:
    registry = CollectorRegistry()
    registry.register(tools.operating.metrics)
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
