"""Somebody with a browser: follows addresses, fills in forms, keeps cookies."""

from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import urljoin

import requests
from selectolax.lexbor import LexborHTMLParser, LexborNode

SECONDS = 60.0


class Upload(NamedTuple):
    name: str
    content: bytes
    content_type: str


class Visitor:
    def __init__(self, base: str) -> None:
        self._base = base
        self._session = requests.Session()
        self._session.headers["User-Agent"] = "Mozilla/5.0 (benchmark)"

    def submit(self, path: str, field: str, values: Mapping[str, str], file: tuple[str, Upload] | None = None) -> None:
        """Open a page, take its form that has this field, send it with these values and all it held itself."""
        shown = self._session.get(urljoin(self._base, path), timeout=SECONDS)
        form = _form(shown.text, field)
        if form is None:
            raise SystemExit(f"{shown.url} ({shown.status_code}) has no form with {field!r}.")
        action = urljoin(shown.url, form.attributes.get("action") or "")
        sent = {**fields(form), **values}
        files = {file[0]: tuple(file[1])} if file else None
        answer = self._session.post(action, data=sent, files=files, timeout=SECONDS)  # type: ignore[arg-type]
        answer.raise_for_status()
        again = _form(answer.text, field)
        if again is not None and again.css_first("[type=password], textarea") is not None:
            raise SystemExit(f"{action} shows its form again instead of taking it.")


def fields(form: LexborNode) -> dict[str, str]:
    """What a browser would send, but for the button."""
    found: dict[str, str] = {}
    for node in form.css("input, textarea, select"):
        name, kind = node.attributes.get("name"), node.attributes.get("type") or "text"
        if not name or kind in {"submit", "button", "image", "reset", "file"}:
            continue
        if kind in {"checkbox", "radio"} and "checked" not in node.attributes:
            continue
        found[name] = _value(node, kind)
    return found


def _value(node: LexborNode, kind: str) -> str:
    if node.tag == "textarea":
        return node.text().removeprefix("\n")
    if node.tag == "select":
        chosen = node.css_first("option[selected]") or node.css_first("option")
        return (chosen.attributes.get("value") or chosen.text()) if chosen else ""
    return node.attributes.get("value") or ("on" if kind in {"checkbox", "radio"} else "")


def _form(html: str, field: str) -> LexborNode | None:
    for form in LexborHTMLParser(html).css("form"):
        if form.css_first(f'[name="{field}"]') is not None:
            return form
    return None
