"""Lock order for writing documents, against deadlocks: projects, then documents, then rows that belong to them.

Deleting a project locks its row first, too, and then all the rest. So one of two transactions waits, never both.
"""

from collections.abc import Iterable
from uuid import UUID

from crawler.adapters.postgres.database import Cursor

_PROJECTS = "SELECT 1 FROM projects WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"
_PROJECTS_OF = "SELECT DISTINCT project_id FROM documents WHERE id = ANY(%s)"
_DOCUMENTS = "SELECT 1 FROM documents WHERE id = ANY(%s) ORDER BY id FOR NO KEY UPDATE"


def hold_projects(db: Cursor, project_ids: Iterable[UUID]) -> None:
    """Share-lock projects: they are not deleted before this transaction ends."""
    db.execute(_PROJECTS, (sorted(set(project_ids)),))


def hold_documents(db: Cursor, document_ids: Iterable[UUID]) -> None:
    """Lock documents. If another transaction is making one of them, wait for it and see its result."""
    ids = sorted(set(document_ids))
    db.execute(_PROJECTS_OF, (ids,))
    hold_projects(db, [found for (found,) in db])
    db.execute(_DOCUMENTS, (ids,))
