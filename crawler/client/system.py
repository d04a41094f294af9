"""The service itself: is it well, and what operators change while it runs."""

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
    """ok or failing."""
    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        return self.status == "ok"


class RuntimeSettings(Value):
    stored: dict[str, Any]
    """What is set in the service; None leaves it to the environment."""
    in_force: dict[str, Any]
    """Stored over the environment over the defaults."""
