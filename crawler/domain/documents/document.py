"""Pages as documents: what one is, what it is made of, what readers of the feed are told."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from crawler.domain.documents.chunking import Chunk


class DocumentStatus(StrEnum):
    PENDING = "pending"
    INGESTED = "ingested"
    FAILED = "failed"


class Source(NamedTuple):
    """What a document is to be made of: a version of its page, as it was stored."""

    id: UUID
    project_id: UUID
    version_id: UUID | None
    """The fence: what was made of one version is not kept when another is due by then."""
    attempts: int
    url: str
    title: str | None
    language: str | None
    noindex: bool
    content: bytes | None
    content_type: str
    prunes: bool
    content_hash: bytes | None
    text: str | None
    """The page's text, if this is its newest version: for pages whose markdown has nothing."""
    is_newest: bool = True
    """Else nobody knows its language, and it was wanted before."""


class Made(NamedTuple):
    """A document that is ready to be kept."""

    source: Source
    chunks: Sequence[Chunk]
    config: str
    """The configuration of full-text search for its language."""

    @property
    def tokens(self) -> int:
        return sum(chunk.tokens for chunk in self.chunks)


class Failed(NamedTuple):
    source: Source
    error: str


class Document(BaseModel):
    """As readers see it."""

    model_config = ConfigDict(frozen=True)

    id: UUID
    project_id: UUID
    page_id: UUID | None
    url: str
    normalized_url: str
    title: str | None
    language: str | None
    status: DocumentStatus
    error_message: str | None
    content_hash: str | None
    version_id: UUID | None
    chunk_count: int
    token_count: int
    embedded_with: str | None
    embedding_error: str | None
    created_at: datetime
    ingested_at: datetime | None
    deleted_at: datetime | None


class DocumentChunk(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: UUID
    position: int
    headings: tuple[str, ...]
    content: str
    token_count: int
    embedded: bool


class ChangeKind(StrEnum):
    NEW = "new"
    CHANGED = "changed"
    REMOVED = "removed"


class PageChange(BaseModel):
    """What changed on the page, so that the document did."""

    model_config = ConfigDict(frozen=True)

    kind: ChangeKind
    crawl_id: UUID = Field(description="That found it")
    version_id: UUID | None = Field(description="The page's version since then; null if it is gone")
    previous_version_id: UUID | None = Field(description="The one before; null of a new page")


class FeedEntry(NamedTuple):
    """One document at its place in the feed; a document stands where it changed last."""

    seq: int
    document: Document
    chunks: Sequence[DocumentChunk] | None = None
    change: PageChange | None = None
    """None: it is no longer known."""


class DocumentCounts(NamedTuple):
    pending: int
    ingested: int
    failed: int
    removed: int
    chunks: int
    without_vectors: int


def document_id(project_id: UUID, normalized_url: str) -> UUID:
    """The id of a URL's document: the same in every crawl."""
    digest = hashlib.blake2b(project_id.bytes + normalized_url.encode(), digest_size=16, person=b"document")
    return UUID(bytes=digest.digest())


def config_of(language: str | None, known: frozenset[str]) -> str:
    """The configuration of full-text search for a language; `simple` where the server has none for it."""
    name = _CONFIGS.get(language or "", "simple")
    return name if name in known else "simple"


_CONFIGS: Mapping[str, str] = {
    "ar": "arabic", "hy": "armenian", "eu": "basque", "ca": "catalan", "da": "danish", "nl": "dutch",
    "en": "english", "et": "estonian", "fi": "finnish", "fr": "french", "de": "german", "el": "greek", "hi": "hindi",
    "hu": "hungarian", "id": "indonesian", "ga": "irish", "it": "italian", "lt": "lithuanian", "ne": "nepali",
    "no": "norwegian", "nn": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian",
    "es": "spanish", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
