"""`/system`: state of servers, workers and queues. For admins only, because it shows all projects together.

What is shown is read by `entrypoints/dashboard/views/system_state.py`.
"""

from fastapi import APIRouter, Request, Response

from crawler.entrypoints.dashboard.serving.render import is_part, page
from crawler.entrypoints.dashboard.views import system_state
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import AdminOnly
from crawler.entrypoints.processes import is_loopback

router = APIRouter(dependencies=[AdminOnly])


@router.get("/system")
def system(request: Request, tools: Tools) -> Response:
    """Asked for again every few seconds by its own page."""
    return page(
        request,
        "parts/system_state.html" if is_part(request) else "system.html",
        section="system",
        here="health",
        flower=system_state.flower_url(tools.settings, request.url.hostname or "127.0.0.1"),
        flower_is_local=is_loopback(tools.settings.flower_host),
        **system_state.state(tools),
    )
