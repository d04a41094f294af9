"""States and orders of queue entries, apart from `entries.py`: commands show them without loading Pydantic."""

from enum import StrEnum

DEFAULT_PRIORITY = 5
LAST_PRIORITY = 9


class EntryStatus(StrEnum):
    PENDING = "pending"
    FETCHING = "fetching"
    FETCHED = "fetched"
    EXTRACTING = "extracting"
    DONE = "done"
    FAILED = "failed"


class Sort(StrEnum):
    OLDEST = "id"
    NEWEST = "-id"
    PRIORITY = "priority"
    """In the order they are worked off."""


class BulkAction(StrEnum):
    RETRY = "retry"
    DEACTIVATE = "deactivate"
    REACTIVATE = "reactivate"
    DELETE = "delete"
