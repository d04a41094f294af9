"""Where progress and complaints go."""

from typing import NoReturn

from rich.console import Console


class Stderr(Console):
    """Plain text: crawled words hold no markup. A reader that went away is an error like any other."""

    def __init__(self) -> None:
        super().__init__(stderr=True, highlight=False, markup=False)

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError
