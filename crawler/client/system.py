"""Client for the service itself: health checks, and settings that operators change at runtime."""

from typing import Any

from crawler.client.value import Value


class Check(Value):
    name: str
    ok: bool
    message: str
    fix: str | None
    required: bool


class Health(Value):
    status: str
    """The status: ok or failing."""
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        return self.status == "ok"


class RuntimeSettings(Value):
    stored: dict[str, Any]
    """Values set in the service; None means the environment's value."""
    in_force: dict[str, Any]
    """The values in force: stored ones first, then the environment's, then defaults."""
