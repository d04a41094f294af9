"""The output directory that a user names, checked."""

from pathlib import Path

from crawler.errors import Invalid


def directory(name: str | Path) -> Path:
    """Refuse an empty name, for instance from an unset shell variable: it would mean the current directory.

    An option's default is also passed through here, already as a path.
    """
    if not str(name).strip():
        raise Invalid("The directory to write to has no name; write . for the present one.")
    return Path(name)
