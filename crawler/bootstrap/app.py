"""All rooms as one, and how it is made."""

from typing import Any

from crawler.bootstrap.doors import Doors
from crawler.config import Settings
from crawler.embedded import EmbeddedServers


class App(Doors):
    """Everything a process of ours can use, built when first asked for. Each room may use those below it."""


def build(settings: Settings, embedded: EmbeddedServers | None = None, **overrides: Any) -> App:
    return App(settings, overrides=overrides, embedded=embedded)
