"""Parts of a page's mirror in lxml, on which XPath is tried. Whose tree is mirrored: `named_parts.py`, and
`selected_page.py` of `domain/acquisition`.
"""

import re
from collections.abc import Iterable
from typing import Any

from lxml import etree

MOST_NAMED = 10_000
"""Elements that one selector may name: more than that is no choice any more."""
_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)
_NOT_IN_NAMES = re.compile(r"[^\w.-]", re.ASCII)
_NOT_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def xpath_found(path: str, root: Any) -> list[Any]:
    """What an XPath finds: elements and texts, or the one value that it gives."""
    found = etree.XPath(path, regexp=False, smart_strings=False)(root)
    return found[:MOST_NAMED] if isinstance(found, list) else [_written(found)]


def mirrored_element(tag: str, attributes: Iterable[tuple[str, str]] = ()) -> Any:
    """An element like one of the page. Attributes whose names XML does not have are left out."""
    made = etree.Element(tag if _NAME.fullmatch(tag) else _NOT_IN_NAMES.sub("_", f"_{tag}"))
    for name, value in attributes:
        if _NAME.fullmatch(name):
            made.set(name, _NOT_XML.sub("", value))
    return made


def add_text(element: Any, last: Any, text: str) -> None:
    """Add a text of the page below this element, after its last child."""
    said = _NOT_XML.sub("", text)
    if last is None:
        element.text = (element.text or "") + said
    else:
        last.tail = (last.tail or "") + said


def _written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:g}" if value == value else ""
    return str(value)
