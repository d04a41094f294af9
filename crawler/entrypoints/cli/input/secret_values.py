"""Secret values for commands: from the environment, a file or a prompt, because everybody can read command lines."""

import os
import sys
from pathlib import Path

import typer

from crawler.errors import Invalid

FILE_SIGN = "@"
"""Begins the name of a file to read a value from, as in curl."""
STDIN = "-"
MOST_CHARACTERS = 100_000


def read_secret(what: str, *, env: str | None = None, file: str | None = None) -> str:
    """The value of `what`. Without a variable or file it is asked for, or read from what is piped in."""
    if env is not None and file is not None:
        raise Invalid("Name a variable or a file, not both.")
    if env is not None:
        value = from_environment(env)
    elif file is None and sys.stdin.isatty():
        value = typer.prompt(what, hide_input=True, err=True)
    else:
        value = from_file(file or STDIN)
    value = value.removesuffix("\n").removesuffix("\r")
    if not value:
        raise Invalid(f"{what} is empty.")
    return value


def from_environment(variable: str) -> str:
    try:
        return os.environ[variable]
    except KeyError as exc:
        raise Invalid(f"The environment variable {variable} is not set.") from exc


def from_file(name: str) -> str:
    """The text of a file, or of stdin for '-'."""
    try:
        if name == STDIN:
            return sys.stdin.read(MOST_CHARACTERS)
        with Path(name).open(encoding="utf-8-sig") as file:
            return file.read(MOST_CHARACTERS)
    except (OSError, UnicodeDecodeError) as exc:
        why = getattr(exc, "strerror", None) or "it is not UTF-8 text"
        raise Invalid(f"{name} cannot be read: {why}.") from exc
