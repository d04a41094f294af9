"""How deep JSON is nested, told before it is read.

Python's own reader calls itself for each level, up to the limit of all calls. What else runs at that moment has no call
left: garbage that is collected there loses its finalizers.
"""

import re
from itertools import accumulate

DEEPEST = 200
"""Nothing that is meant to be read is nested deeper."""
_STRING = re.compile(r'"[^"]*+"?')
"""One without an end reaches to the end of the text: no other place is tried, which would take quadratic time."""
_NO_BRACKET = re.compile(r"[^][{}]+")
_STEP = {"[": 1, "{": 1, "]": -1, "}": -1}


def is_too_deep(text: str) -> bool:
    """Whether JSON has more than DEEPEST lists and objects inside each other. What is no JSON is measured as far as a
    reader would come.
    """
    if text.count("[") + text.count("{") <= DEEPEST:
        return False
    without_escapes = text.replace("\\\\", "").replace('\\"', "")
    brackets = _NO_BRACKET.sub("", _STRING.sub("", without_escapes))
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > DEEPEST
