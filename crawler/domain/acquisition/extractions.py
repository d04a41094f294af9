"""What was read from an entry's page, and the way there: claimed, read, kept, handed on."""

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from pydantic import BaseModel, ConfigDict, Field

from crawler.domain.acquisition.entries import MAX_ERROR
from crawler.domain.acquisition.page_fields import PageFields, Value
from crawler.domain.acquisition.selectors import SelectorSet
from crawler.domain.exports.files import harmless

_IDS = UUID("5e0ac9d2-3f57-5b34-9a41-7a1f5c0f7e11")
MAX_HANDED_ON = 200_000
"""Characters of text in one message; the whole of it is kept."""


class Claimed(NamedTuple):
    """An entry that somebody extracts."""

    id: int
    claim_id: UUID
    page_id: UUID | None
    category: str | None
    losses: int
    """Claims before this one that came to no end."""
    project_id: UUID


class ReadPage(NamedTuple):
    """A page as it was fetched last."""

    page_id: UUID
    version_id: UUID
    content_hash: bytes
    """The hash of the page's bytes: selectors see more than the text."""
    url: str
    content_type: str
    body: bytes


class NewExtraction(NamedTuple):
    """One extraction with its job: their ids are made of what they are, so that a repeat is the same row."""

    id: UUID
    job_id: UUID
    page_id: UUID
    version_id: UUID
    content_hash: bytes
    revision: str
    fields: Mapping[str, Value]
    text: str
    language: str | None

    @classmethod
    def of(cls, entry: Claimed, page: ReadPage, rules: SelectorSet, found: PageFields) -> "NewExtraction":
        identity = uuid5(_IDS, f"{entry.id} {page.version_id} {rules.revision}")
        return cls(
            identity,
            uuid5(_IDS, f"job {identity}"),
            page.page_id,
            page.version_id,
            page.content_hash,
            rules.revision,
            found.fields,
            found.text,
            found.language,
        )


def problem_with(found: PageFields, rules: SelectorSet, *, by_selectors: bool) -> str | None:
    """Why this is no extraction, if it is none; a stable code and a sentence."""
    missing = [name for name, rule in rules.fields.items() if rule.required and not found.fields.get(name)]
    if by_selectors and missing:
        return f"field_missing: The page has no {' and no '.join(missing)}, which its category requires."
    if found.text or any(found.fields.values()):
        return None
    if rules.is_default or not by_selectors:
        return "no_text: The page has no text."
    return "no_text: The category's selectors found nothing on the page."


def filled(found: PageFields) -> dict[str, bool]:
    return {name: bool(value) for name, value in found.fields.items()}


def error_text(words: str) -> str:
    return words.replace("\x00", "")[:MAX_ERROR]


class Extraction(BaseModel):
    """As it is shown."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    queue_id: int | None = Field(description="The entry it was made for; null when that is deleted")
    page_id: UUID | None
    version_id: UUID | None
    url: str
    category: str | None
    revision: str = Field(description="Of the selectors it was made with")
    fields: dict[str, Any]
    text: str
    language: str | None
    extracted_at: datetime
    job_id: UUID | None = Field(description="Of its hand-off to classification")
    job_status: str | None = Field(description="pending or sent")
    sent_at: datetime | None


_COLUMNS = ("queue_id", "url", "category", "language", "extracted_at", "job_status", "text")


def as_jsonl(rows: Iterable[Extraction]) -> Iterator[bytes]:
    for row in rows:
        yield row.model_dump_json().encode("utf-8", "replace") + b"\n"


def as_csv(rows: Iterable[Extraction], names: Sequence[str] = ()) -> Iterator[bytes]:
    """A column for each of these fields; without any, one with all of them as JSON. Nothing in it is a formula."""
    line = io.StringIO()
    writer = csv.writer(line)
    writer.writerow([*_COLUMNS, *(names or ("fields",))])
    for row in rows:
        said = (
            [_cell(row.fields.get(name)) for name in names] if names else [json.dumps(row.fields, ensure_ascii=False)]
        )
        writer.writerow([harmless(_cell(getattr(row, name))) for name in _COLUMNS] + [harmless(cell) for cell in said])
        yield line.getvalue().encode("utf-8", "replace")
        line.seek(0)
        line.truncate()
    yield line.getvalue().encode()


def _cell(value: object) -> object:
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return value.isoformat() if isinstance(value, datetime) else value


class Handed(NamedTuple):
    """A job as the classifier gets it: the arguments of its task."""

    job_id: str
    extraction_id: str
    queue_id: int | None
    page_id: str | None
    url: str
    category: str | None
    language: str | None
    fields: dict[str, Any]
    text: str
    truncated: bool
    extracted_at: str

    @classmethod
    def of(cls, job_id: UUID, extraction: Extraction) -> "Handed":
        text = extraction.text
        return cls(
            str(job_id),
            str(extraction.id),
            extraction.queue_id,
            str(extraction.page_id) if extraction.page_id else None,
            extraction.url,
            extraction.category,
            extraction.language,
            extraction.fields,
            text[:MAX_HANDED_ON],
            len(text) > MAX_HANDED_ON,
            extraction.extracted_at.isoformat(),
        )
