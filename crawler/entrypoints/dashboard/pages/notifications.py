"""`/notifications`: notifications that were sent, their delivery results, and sending one again.

Who is told, and when: `handlers/notices/notify_crawl.py`. Sending again: `resend_notice.py` beside it.
"""

import re
from typing import Annotated, Any
from uuid import UUID

import orjson
from fastapi import APIRouter, Depends, Path, Query, Request, Response

from crawler.adapters.notices.notification_list import NoticeFilter
from crawler.adapters.notices.notification_store import KeptNotification
from crawler.domain.notices.notice import Channel, Delivery, NoticeKind
from crawler.entrypoints.dashboard.serving.render import go, is_part, page
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.cursors import decode_id, encode
from crawler.entrypoints.http.shapes import Text
from crawler.entrypoints.http.shown_addresses import sees_addresses, shown_target
from crawler.errors import NotFound

router = APIRouter()

SHOWN = 50
LONGEST_TEXT = 200_000
CHANNELS = (("email", "Mail"), ("webhook", "Webhook"), ("apprise", "Other channels"))
KINDS = (("changes", "Changes"), ("crawl_failing", "Crawls fail"), ("crawl_recovered", "Works again"))
STATES = (
    ("sent", "Sent"),
    ("failed", "Failed"),
    ("blocked", "Blocked"),
    ("unknown", "Unknown"),
    ("sending", "Being sent"),
    ("held", "Waiting"),
)
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
Short = Annotated[Text, Query(max_length=30)]


@router.get("/notifications")
def notifications(
    request: Request,
    caller: Caller,
    tools: Tools,
    q: Annotated[Text, Query(max_length=200)] = "",
    channel: Short = "",
    status: Short = "",
    kind: Short = "",
    project: Annotated[UUID | None, Query()] = None,
    cursor: Annotated[Text | None, Query(max_length=2000)] = None,
) -> Response:
    wanted = NoticeFilter(
        project,
        q.strip(),
        channel if channel in set(Channel) else "",
        status if status in set(Delivery) else "",
        kind if kind in set(NoticeKind) else "",
    )
    before = decode_id("notices", cursor)
    found = tools.notices.notification_list(
        wanted, before=before, only=caller.project_ids, limit=SHOWN + 1, whole=sees_addresses(caller)
    )
    rows = [row._replace(target=shown_target(caller, row.channel, row.target)) for row in found]
    return page(
        request,
        "parts/notice_rows.html" if is_part(request) else "notifications.html",
        section="notifications",
        rows=rows[:SHOWN],
        following=encode("notices", str(rows[SHOWN - 1].id)) if len(rows) > SHOWN else None,
        filters={**wanted._asdict(), "q": wanted.search},
        of=tools.store.get_project(project) if project and caller.sees(project) else None,
        channels=dict(CHANNELS),
        kinds=dict(KINDS),
        states=dict(STATES),
        first=cursor is None,
    )


def _own(notification_id: Annotated[UUID, Path()], caller: Caller, tools: Tools) -> KeptNotification:
    kept = tools.notices.notifications.find(notification_id)
    if kept is None or not caller.sees(kept.project_id):
        raise NotFound(f"There is no notification {notification_id}.")
    return kept._replace(target=shown_target(caller, kept.channel, kept.target))


OwnNotice = Annotated[KeptNotification, Depends(_own)]


@router.get("/notifications/{notification_id}")
def notification(request: Request, kept: OwnNotice, tools: Tools) -> Response:
    return page(
        request,
        "notification.html",
        section="notifications",
        kept=kept,
        project=tools.store.get_project(kept.project_id),
        said_parts=_parts(kept.channel, kept.payload),
        channels=dict(CHANNELS),
        kinds=dict(KINDS),
        states=dict(STATES),
    )


@router.post("/notifications/{notification_id}/resend")
def resend(kept: OwnNotice, tools: Tools) -> Response:
    """By the workers where there are any: their mail server counts."""
    sent = tools.notices.resend(kept.id)
    return go(f"/notifications/{kept.id}", "resent" if sent.status == Delivery.SENT else "resent-in-vain")


@router.post("/notifications/{notification_id}/acknowledge")
def acknowledge(kept: OwnNotice, tools: Tools) -> Response:
    """Somebody knows of it; the first moment counts."""
    tools.notices.notifications.acknowledge(kept.id, tools.clock())
    return go(f"/notifications/{kept.id}", "acknowledged")


def _parts(channel: str, payload: dict[str, Any]) -> dict[str, str]:
    """The parts of a notification as plain text. Its HTML is shown as text, never as part of our page."""
    if channel.startswith(Channel.WEBHOOK):
        return {"json": _inert(orjson.dumps(payload, option=orjson.OPT_INDENT_2).decode())}
    return {name: _inert(str(payload.get(name, ""))) for name in ("subject", "text", "html")}


def _inert(text: str) -> str:
    """The text without control characters that hide or reorder other text; lines are kept."""
    shown = _UNSEEN.sub("\ufffd", text.replace("\r\n", "\n"))
    return shown if len(shown) <= LONGEST_TEXT else f"{shown[:LONGEST_TEXT]}\n…"
