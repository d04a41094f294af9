"""Documents and search, for commands: local and remote backend.

Search is in `handlers/documents/search_documents.py`.
"""

from itertools import islice
from typing import Protocol
from urllib.parse import urljoin
from uuid import UUID

from crawler import client as service
from crawler.bootstrap import App
from crawler.domain.documents.document import Document, DocumentCounts
from crawler.domain.documents.searching import SearchAnswer, SearchHit


class DocumentBackend(Protocol):
    def listed(self, project_id: UUID, limit: int) -> list[Document]: ...
    def counts(self, project_id: UUID) -> DocumentCounts: ...
    def search(self, project_id: UUID, words: str, prefix: str | None, limit: int) -> SearchAnswer: ...


class LocalDocuments:
    def __init__(self, tools: App) -> None:
        self._tools = tools

    def listed(self, project_id: UUID, limit: int) -> list[Document]:
        self._tools.store.get_project(project_id)
        return [entry.document for entry in self._tools.documents.reader.feed(project_id, 0, limit)]

    def counts(self, project_id: UUID) -> DocumentCounts:
        return self._tools.documents.reader.counts(project_id)

    def search(self, project_id: UUID, words: str, prefix: str | None, limit: int) -> SearchAnswer:
        project = self._tools.store.get_project(project_id)
        if prefix and prefix.startswith("/") and project.website_url:
            prefix = urljoin(project.website_url, prefix)
        return self._tools.documents.search(project_id, words, limit=limit, prefix=prefix.lower() if prefix else None)


class RemoteDocuments:
    def __init__(self, documents: service.Documents) -> None:
        self._documents = documents

    def listed(self, project_id: UUID, limit: int) -> list[Document]:
        found = islice(self._documents.of(project_id), limit)
        return [Document.model_validate(change.document.model_dump()) for change in found]

    def counts(self, project_id: UUID) -> DocumentCounts:
        told = self._documents.counts(project_id).model_dump()
        return DocumentCounts(**{name: told[name] for name in DocumentCounts._fields})

    def search(self, project_id: UUID, words: str, prefix: str | None, limit: int) -> SearchAnswer:
        answer = self._documents.search(project_id, words, prefix=prefix, limit=limit)
        hits = [SearchHit.model_validate(hit.model_dump()) for hit in answer.items]
        return SearchAnswer(hits, answer.mode, answer.note)
