"""Runtime settings of operators: read from Postgres every few seconds, and passed on to listeners.

Which settings there are: `domain/runtime_settings.py`. Listeners are added in `bootstrap/engine.py`.
"""

import time
from collections.abc import Callable

from crawler import telemetry
from crawler.domain.runtime_settings import RuntimeSettings
from crawler.errors import Unavailable

log = telemetry.logger(__name__)

EVERY_SECONDS = 10.0

Listener = Callable[[RuntimeSettings], None]


class FollowSettings:
    def __init__(
        self,
        read: Callable[[], RuntimeSettings],
        environment: RuntimeSettings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`environment` has a value for every setting."""
        self._read = read
        self._environment = environment
        self._clock = clock
        self._next = float("-inf")
        self._now = environment
        self._listeners: list[Listener] = []

    def __call__(self) -> RuntimeSettings:
        """The settings in force; read again if the last read was some seconds ago."""
        if self._clock() >= self._next:
            self.look()
        return self._now

    def look(self) -> RuntimeSettings:
        """Read the settings now. While Postgres does not respond, those read last."""
        self._next = self._clock() + EVERY_SECONDS
        try:
            found = self._environment.overridden(self._read())
        except Unavailable as exc:
            log.warning("settings_not_read", detail=exc.message)
            return self._now
        if found != self._now:
            self._now = found
            log.info("settings_changed", **found.model_dump())
            for listener in self._listeners:
                listener(found)
        return self._now

    def tell(self, listener: Listener) -> None:
        """Call `listener` on every change from now on."""
        self._listeners.append(listener)
