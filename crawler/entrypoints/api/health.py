"""Is it alive, and are the servers behind it?"""

from typing import Any

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from crawler.entrypoints.doctor import diagnose
from crawler.telemetry import registry

router = APIRouter(tags=["health"])


@router.get("/health/live", summary="The process answers")
def live() -> dict[str, str]:
    return {"status": "ok"}


@router.get("/health", summary="State of each server behind the service")
def health(request: Request, response: Response) -> dict[str, Any]:
    checks = diagnose(request.app.state.tools)
    healthy = all(check.ok or not check.required for check in checks)
    if not healthy:
        response.status_code = 503
    return {"status": "ok" if healthy else "failing", "checks": [check._asdict() for check in checks]}


@router.get("/metrics", summary="Prometheus metrics of this process")
def metrics() -> Response:
    return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)
