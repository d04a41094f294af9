"""What the generator makes."""

from datetime import datetime
from enum import StrEnum
from random import Random
from typing import NamedTuple


class Label(StrEnum):
    REAL = "real"
    NOISE = "noise"


class Half(StrEnum):
    TUNING = "tuning"
    UNSEEN = "unseen"
    LATER = "later"
    """Other words and seeds again, on the pages of the unseen half: made when that had been looked at."""


class Visit(NamedTuple):
    """One fetch of one page."""

    at: datetime
    random: Random
    """What differs from fetch to fetch."""
    deploy: int
    """The release of the site; the same for all its pages."""
    fetches: int
    """Of this page since it was published; grows."""
    remark: str = ""
    """What a reader has added to a remark of theirs: an edit inside a block that changes by itself as well."""


class Pair(NamedTuple):
    url: str
    before: bytes
    after: bytes
    before_again: bytes | None
    """The same page fetched twice by the earlier crawl; None for pages that were no sample."""
    after_again: bytes | None
    label: Label
    before_at: datetime
    after_at: datetime
    kind: str
    """Which edit, or which noise at the most."""


class LabelledSite(NamedTuple):
    name: str
    pairs: tuple[Pair, ...]
    template_edits: int
    """Edits of what all pages share, made between the two crawls; a new year or build in the footer not counted."""
