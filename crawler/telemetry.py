"""Logging with structlog: bound ids, stable event names, secrets removed.

Metrics are in `adapters/operating/metrics_reader.py`.
"""

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

# Lengths are limited: unlimited patterns take very long on text that was made for it.
_SECRET_QUERY = re.compile(
    r"([?&](?:[^=&\s]{0,60}(?:token|key|sig|password|secret)[^=&\s]{0,60})=)[^&\s'\"]+", re.IGNORECASE
)
_USERINFO = re.compile(r"(\w{1,20}://)[^/\s'\"]+@")
LONGEST_VALUE = 10_000
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


def redact(value: str) -> str:
    """Remove secrets and control characters and shorten the value: crawled text may contain anything."""
    if len(value) > LONGEST_VALUE:
        value = value[:LONGEST_VALUE] + "…"
    value = _USERINFO.sub(r"\1…@", value)
    value = _SECRET_QUERY.sub(r"\1…", value)
    return _CONTROL.sub("?", value)


def _redact_event(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for key, value in event.items():
        if isinstance(value, str):
            event[key] = redact(value) if key != "exception" else value
    return event


def configure_logs(level: str = "info", *, as_json: bool = False) -> None:
    """Send our logs and Celery's to stderr in one format."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if as_json
        else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), pad_event_to=0)
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            _redact_event,
            renderer,
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    logging.getLogger("alembic").setLevel(logging.WARNING)


def logger(name: str) -> Any:
    return structlog.stdlib.get_logger(name)
