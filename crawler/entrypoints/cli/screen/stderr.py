"""The Rich console for progress and error messages on stderr."""

from typing import NoReturn

from crawler.entrypoints.cli.screen.clean_console import CleanConsole


class Stderr(CleanConsole):
    """A closed pipe raises an error."""

    def __init__(self) -> None:
        super().__init__(stderr=True)

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError
