"""Store, list, remove and try a project's logins: the same rules for API, terminal and dashboard.

What a login is: `domain/hosts/logins.py`.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from pydantic import ValidationError

from crawler.domain.clock import Clock
from crawler.domain.crawls.crawl_choices import RenderMode
from crawler.domain.crawls.page_steps import InvalidSteps
from crawler.domain.crawls.project import Project
from crawler.domain.hosts.logins import LoginOrder, StoredLogin
from crawler.domain.urls.url import parse
from crawler.errors import Conflict, NotFound

NO_BROWSER = "No worker with a browser runs; 'crawler doctor' says what is missing."


class LoginStore(Protocol):
    def listed(self, project_id: UUID) -> list[StoredLogin]: ...
    def find(self, project_id: UUID, origin: str) -> StoredLogin | None: ...
    def save(self, project_id: UUID, origin: str, order: LoginOrder, now: datetime) -> None: ...
    def forget(self, project_id: UUID, origin: str) -> bool: ...
    def renew(self, project_id: UUID, origin: str) -> bool: ...


class Projects(Protocol):
    def get_project(self, project_id: UUID) -> Project: ...
    def save_project(self, project: Project) -> Project: ...


class ManageLogins:
    def __init__(
        self,
        store: LoginStore,
        projects: Projects,
        fetch: Callable[[UUID, str], object],
        has_browser: Callable[[], bool],
        clock: Clock,
    ) -> None:
        """`fetch` begins to fetch one page of a project in a browser."""
        self._store = store
        self._projects = projects
        self._fetch = fetch
        self._has_browser = has_browser
        self._clock = clock

    def list(self, project_id: UUID) -> list[StoredLogin]:
        self._projects.get_project(project_id)
        return self._store.listed(project_id)

    def get(self, project_id: UUID, origin: str) -> StoredLogin:
        where = parse(origin).origin
        found = self._store.find(project_id, where)
        if found is None:
            raise NotFound(f"There is no login for {where}.")
        return found

    def set(self, project_id: UUID, origin: str, order: LoginOrder) -> StoredLogin:
        """Store a login for an origin, or replace it. From then on the project's pages are read in a browser."""
        where, now = parse(origin).origin, self._clock()
        project = self._projects.get_project(project_id)
        if project.settings.render is RenderMode.NEVER:
            raise Conflict("Only a browser signs in, and this project's setting render is never; change that first.")
        self._store.save(project_id, where, order, now)
        if project.settings.render is not RenderMode.ALWAYS:
            settings = project.settings.model_copy(update={"render": RenderMode.ALWAYS})
            self._projects.save_project(project.changed(now, settings=settings))
        return self.get(project_id, where)

    def remove(self, project_id: UUID, origin: str) -> None:
        where = parse(origin).origin
        if not self._store.forget(project_id, where):
            raise NotFound(f"There is no login for {where}.")

    def try_now(self, project_id: UUID, origin: str) -> StoredLogin:
        """Forget the session and sign in anew, with one page. What came of it stands in the login a moment later."""
        login = self.get(project_id, origin)
        if not self._has_browser():
            raise Conflict(NO_BROWSER)
        self._store.renew(project_id, login.origin)
        own = self._projects.get_project(project_id).website_url
        self._fetch(project_id, own if own and parse(own).origin == login.origin else f"{login.origin}/")
        return self.get(project_id, login.origin)


def checked_login(given: dict[str, Any]) -> LoginOrder:
    """Raises InvalidSteps, in a sentence without values: some are secrets."""
    try:
        return LoginOrder.model_validate(given)
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False, include_context=False)[0]
        raise InvalidSteps(f"{str(first['msg']).removeprefix('Value error, ').rstrip('.')}.") from None
