"""Answers that may be large: their JSON is made in the thread that has them, and never in the event loop."""

from collections.abc import Mapping
from typing import Any

import orjson
from fastapi import Response


def as_json(told: Mapping[str, Any]) -> Response:
    return Response(orjson.dumps(told), media_type="application/json")
