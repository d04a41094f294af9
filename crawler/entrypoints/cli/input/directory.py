"""A directory somebody names to write to."""

from pathlib import Path

from crawler.errors import Invalid


def directory(name: str | Path) -> Path:
    """An empty name, as of a shell variable that is not set, is no name for the present directory.

    An option's default comes through here too, as the path it is.
    """
    if not str(name).strip():
        raise Invalid("The directory to write to has no name; write . for the present one.")
    return Path(name)
