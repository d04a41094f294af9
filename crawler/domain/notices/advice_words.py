"""What notices say of a language model's advice."""

from collections.abc import Iterator, Sequence
from typing import Any

from crawler.domain.changes.advice import Advice, Advised
from crawler.domain.notices.mail import Section, shortened
from crawler.domain.watching.telling import TellReason


def advice_reasons(advised: Advised) -> list[TellReason]:
    """Pages that are told because their change matters to the wish."""
    wish = advised.wish.wish
    return [
        TellReason(one.url, None, f"a model says that it matters to “{wish}”: {one.sentence}")
        for one in advised.found
        if one.matters
    ]


def advice_sections(found: Sequence[Advice]) -> Iterator[Section]:
    lines = [f"{one.url}: {one.sentence}" for one in found if one.sentence]
    if lines:
        yield Section("In a model's words:", shortened(lines))


def advice_payload(found: Sequence[Advice]) -> dict[str, Any]:
    """For the body of a webhook; nothing where no model was asked."""
    return {"advice": [one.model_dump(mode="json") for one in found]} if found else {}
