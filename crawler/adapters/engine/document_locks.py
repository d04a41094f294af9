"""The order in which whoever writes documents takes its locks: projects, documents, then what belongs to them.

Whoever deletes a project has its row first, too, and all the rest then: so one of the two waits, and never both.
"""

from collections.abc import Iterable
from uuid import UUID

from crawler.adapters.postgres.database import Cursor

_PROJECTS = "SELECT 1 FROM projects WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"
_PROJECTS_OF = "SELECT DISTINCT project_id FROM documents WHERE id = ANY(%s)"
_DOCUMENTS = "SELECT 1 FROM documents WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"


def hold_projects(db: Cursor, project_ids: Iterable[UUID]) -> None:
    """They are not deleted before this transaction ends; others may hold them as well."""
    db.execute(_PROJECTS, (sorted(set(project_ids)),))


def hold_documents(db: Cursor, document_ids: Iterable[UUID]) -> None:
    """Whoever makes one of them anew in this moment is waited for, and what it made is seen."""
    ids = sorted(set(document_ids))
    db.execute(_PROJECTS_OF, (ids,))
    hold_projects(db, [found for (found,) in db])
    db.execute(_DOCUMENTS, (ids,))
