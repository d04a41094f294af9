"""The Rich console for progress and error messages on stderr."""

from typing import NoReturn

from rich.console import Console


class Stderr(Console):
    """Prints plain text, because crawled text must not be read as markup. A closed pipe raises an error."""

    def __init__(self) -> None:
        super().__init__(stderr=True, highlight=False, markup=False)

    def on_broken_pipe(self) -> NoReturn:
        raise BrokenPipeError
