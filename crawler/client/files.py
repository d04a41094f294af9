"""Writes a file atomically: it appears complete under its name, or not at all."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path


def write_whole(target: str | os.PathLike[str], chunks: Iterable[bytes]) -> Path:
    file = Path(target)
    draft = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with draft.open("wb") as out:
            out.writelines(chunks)
        return draft.replace(file)
    finally:
        with suppress(OSError):
            draft.unlink()
