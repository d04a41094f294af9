"""Regular expressions that are compiled when they are first used: the large ones take longer than most modules."""

import re
from functools import cached_property
from typing import Any, cast


class LatePattern:
    """Has the attributes of what `re.compile` would return."""

    def __init__(self, pattern: str, flags: re.RegexFlag) -> None:
        self._given = (pattern, flags)

    @cached_property
    def compiled(self) -> "re.Pattern[str]":
        return re.compile(*self._given)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.compiled, name)
        setattr(self, name, found)  # from now on without this detour
        return found


def late(pattern: str, flags: re.RegexFlag = re.NOFLAG) -> "re.Pattern[str]":
    return cast("re.Pattern[str]", LatePattern(pattern, flags))
