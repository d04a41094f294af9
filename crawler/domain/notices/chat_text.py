"""Crawled text for messages that chats may read as markup: it makes no links with words of its own and calls nobody."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

_LINK = re.compile(r"\](?=[\[(]|:\s)|<(?=[a-z]{2,8}:|[@!#&])", re.IGNORECASE)
"""`[words](address)`, `[words][name]`, `[name]: address`; `<address|words>`, `<@who>`."""
_CALL = re.compile(r"(?<![\w./+=&-])@(?=\w)|@(?=(?:everyone|here)\b(?!\.\w))")
"""`@who`, but neither mail addresses nor those of pages; what calls a whole channel does so within words, too."""
_JOINER = "\u2060"
"""Has no width."""


def without_markup(text: str) -> str:
    return _CALL.sub(f"@{_JOINER}", _LINK.sub(r"\g<0> ", text))


def values_without_markup(value: Any) -> Any:
    """The same with all texts in lists and mappings."""
    match value:
        case str():
            return without_markup(value)
        case Mapping():
            return {key: values_without_markup(one) for key, one in value.items()}
        case Sequence():
            return [values_without_markup(one) for one in value]
    return value
