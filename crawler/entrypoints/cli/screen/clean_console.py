"""The Rich console that tables and colours are printed by: whatever text it is given, a terminal obeys none of it."""

from collections.abc import Iterator
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from crawler.redaction import printable


class CleanConsole(Console):
    """Takes text as it is, not as markup, and without control characters: pages and services write anything."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, **options)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """All that is printed comes by here. Control segments are Rich's own."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))
