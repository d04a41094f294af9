"""Words for what stood in place of pages, and for pages that lead to one place."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

PART = "part"
"""The kind of note about a part that may have failed, in the midst of pages that are compared."""
_MOST_NAMED = 5
_STANDING = {
    "error": "an error in place of what was there",
    "wall": "a wall against robots in place of what was there",
    "empty": "nothing at all",
    "sign_in": "a form to sign in",
    "same_page": "one and the same text, such as a sign-in page",
}


def wall_sentences(notes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Nobody can tell whether these pages changed: that is worth a sentence, not an alarm."""
    for note in notes:
        if note["kind"] == "redirect":
            yield f"{_pages(note['pages'], 'leads', 'lead')} to {note['target']} for the time being: not compared."
        elif note["kind"] == PART:
            shown = _pages(note["pages"], "shows", "show")
            yield f"{shown} the same line in place of a part that may have failed: that part is not compared."
        else:
            shown = _STANDING.get(note["kind"], "something else")
            yield f"{_pages(note['pages'], 'shows', 'show')} {shown}: not compared."


def pages_behind(note: Mapping[str, Any]) -> Iterator[str]:
    """The first of them by name."""
    named = list(note.get("example_urls", ()))[:_MOST_NAMED]
    yield from named
    if named and (more := note["pages"] - len(named)) > 0:
        yield f"… and {more:,} more"


def redirect_sentences(groups: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for group in groups:
        yield f"{_pages(group['pages'], 'leads', 'lead')} to {group['target']} now."


def _pages(number: int, one: str, many: str) -> str:
    return f"1 page {one}" if number == 1 else f"{number:,} pages {many}"
