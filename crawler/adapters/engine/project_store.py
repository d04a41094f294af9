"""Projects in Postgres: rows to values and back."""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Engine, Row, Text, cast, delete, exists, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from crawler.adapters.engine.columns import column_values
from crawler.adapters.engine.project_belongings import delete_belongings
from crawler.adapters.postgres import tables as t
from crawler.adapters.postgres.database import again_after_deadlock, transaction
from crawler.domain.crawls.crawl import STORED
from crawler.domain.crawls.project import Project
from crawler.errors import Conflict, NotFound

_COLUMNS = [t.projects.c[name] for name in Project.model_fields]


def _project(row: Row[Any]) -> Project:
    return Project.model_validate(row._asdict(), context=STORED)


class ProjectStore:
    """Each method is one transaction, unless it says otherwise."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def add_project(self, project: Project) -> Project:
        try:
            with transaction(self.engine) as db:
                db.execute(insert(t.projects).values(column_values(project)))
        except IntegrityError as exc:
            raise Conflict(f"There is already a project named {project.name!r}.") from exc
        return project

    def get_project(self, project_id: UUID) -> Project:
        with transaction(self.engine) as db:
            row = db.execute(select(*_COLUMNS).where(t.projects.c.id == project_id)).one_or_none()
        if row is None:
            raise NotFound(f"There is no project {project_id}.")
        return _project(row)

    def find_project(self, name: str) -> Project | None:
        with transaction(self.engine) as db:
            row = db.execute(select(*_COLUMNS).where(t.projects.c.name == name)).one_or_none()
        return _project(row) if row else None

    def list_projects(
        self, limit: int = 100, after: UUID | None = None, only: Sequence[UUID] | None = None, search: str = ""
    ) -> list[Project]:
        """Projects, oldest first; `search` is a part of a name or address, or the beginning of an id."""
        query = select(*_COLUMNS).order_by(t.projects.c.id).limit(limit)
        if search:
            named = (each.icontains(search, autoescape=True) for each in (t.projects.c.name, t.projects.c.website_url))
            begins = cast(t.projects.c.id, Text).startswith(search.lower(), autoescape=True)
            query = query.where(or_(*named, begins))
        if only is not None:
            query = query.where(t.projects.c.id.in_(only))
        if after:
            query = query.where(t.projects.c.id > after)
        with transaction(self.engine) as db:
            return [_project(row) for row in db.execute(query)]

    def existing_projects(self, asked: Collection[UUID]) -> set[UUID]:
        """Those of these projects that are there."""
        with transaction(self.engine) as db:
            return set(db.execute(select(t.projects.c.id).where(t.projects.c.id.in_(asked))).scalars())

    def save_project(self, project: Project) -> Project:
        own = {name: value for name, value in column_values(project).items() if name != "phase_status"}
        try:
            with transaction(self.engine) as db:
                done = db.execute(update(t.projects).where(t.projects.c.id == project.id).values(own))
        except IntegrityError as exc:
            raise Conflict(f"There is already a project named {project.name!r}.") from exc
        if not done.rowcount:
            raise NotFound(f"There is no project {project.id}.")
        return project

    def has_credentials(self, project_id: UUID) -> bool:
        """Whether credentials or a login are stored for any origin."""
        stored = or_(
            exists().where(t.project_credentials.c.project_id == project_id),
            exists().where(t.project_logins.c.project_id == project_id),
        )
        with transaction(self.engine) as db:
            return bool(db.execute(select(stored)).scalar_one())

    def delete_project(self, project_id: UUID) -> None:
        """Delete a project with all that is its own: not in one transaction, but in many short ones."""
        delete_belongings(self.engine, project_id)
        self._delete_project(project_id)

    @again_after_deadlock
    def _delete_project(self, project_id: UUID) -> None:
        with transaction(self.engine) as db:
            done = db.execute(delete(t.projects).where(t.projects.c.id == project_id))
        if not done.rowcount:
            raise NotFound(f"There is no project {project_id}.")
