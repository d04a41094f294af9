"""Moments that people name and we keep: Postgres takes years that Python cannot read back, and one such row would break
every list that it stands in."""

from datetime import UTC, datetime
from typing import Annotated

from pydantic import AfterValidator

_FIRST, _END = datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC)


def zoned(moment: datetime) -> datetime:
    """The moment, if it names its zone."""
    if moment.tzinfo is None:
        raise ValueError("a moment needs its zone, such as 2026-11-16T18:00:00Z")
    return moment


def storable(moment: datetime) -> datetime:
    """The moment in UTC, which is also the zone of one that names none: Postgres knows no offsets beyond 16 hours."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    if not _FIRST <= aware < _END:
        raise ValueError("it must lie between the years 1970 and 9998")
    return aware.astimezone(UTC)


StorableMoment = Annotated[datetime, AfterValidator(storable)]
ZonedMoment = Annotated[datetime, AfterValidator(zoned), AfterValidator(storable)]
