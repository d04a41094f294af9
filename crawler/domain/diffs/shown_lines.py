"""A long line that became another, cut for showing: around where they begin to differ. Comparing needs them whole."""

_BEFORE = 3
"""A third of what is shown stands before the difference."""


def shown(old: str, new: str, longest: int) -> tuple[str, str]:
    """The old and the new line, both cut at the same place; empty where there was no line."""
    if max(len(old), len(new)) <= longest:
        return old, new
    start = 0
    if old and new:
        start = max(0, _alike(old, new) - longest // _BEFORE)
    return _cut(old, start, longest), _cut(new, start, longest)


def _alike(old: str, new: str) -> int:
    """How many characters both begin with."""
    least, most = 0, min(len(old), len(new))
    while least < most:
        middle = (least + most + 1) // 2
        if old[least:middle] == new[least:middle]:
            least = middle
        else:
            most = middle - 1
    return least


def _cut(text: str, start: int, longest: int) -> str:
    # A line whose end is what was edited away is shown by its end.
    start = max(0, min(start, len(text) - longest + 1))
    head = "…" if start else ""
    room = longest - len(head)
    rest = text[start:]
    return f"{head}{rest}" if len(rest) <= room else f"{head}{rest[: room - 1]}…"
