"""The App: every handler and adapter a process can use, by part: `app.crawls.start`, `app.documents.search`."""

from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from crawler.bootstrap.shared import Shared
from crawler.config import Settings
from crawler.embedded import EmbeddedServers

if TYPE_CHECKING:
    from crawler.bootstrap.acquisition import Acquisition
    from crawler.bootstrap.changes import Changes
    from crawler.bootstrap.crawls import Crawls
    from crawler.bootstrap.documents import Documents
    from crawler.bootstrap.engine import Engine
    from crawler.bootstrap.hosts import Hosts
    from crawler.bootstrap.judging import Judging
    from crawler.bootstrap.notices import Notices
    from crawler.bootstrap.operating import Operating
    from crawler.bootstrap.pages import Pages
    from crawler.bootstrap.projects import Projects
    from crawler.bootstrap.watching import Watching

Made = TypeVar("Made")
_making = RLock()


class Lazy(Generic[Made]):
    """A part of the app that is imported and built on first use, because few processes need all parts.

    `crawls: Lazy["Crawls"] = Lazy()` is the class `Crawls` of the module `crawler.bootstrap.crawls`.
    """

    def __set_name__(self, _: type, name: str) -> None:
        self._name = name

    def __get__(self, app: "App", _: type) -> Made:
        with _making:
            if self._name not in app.__dict__:
                module = import_module(f"crawler.bootstrap.{self._name}")
                app.__dict__[self._name] = getattr(module, self._name.capitalize())(app)
        made: Made = app.__dict__[self._name]
        return made


class App(Shared):
    """The handlers and adapters of one process. Each part builds its contents on first use."""

    crawls: Lazy["Crawls"] = Lazy()
    projects: Lazy["Projects"] = Lazy()
    engine: Lazy["Engine"] = Lazy()
    hosts: Lazy["Hosts"] = Lazy()
    pages: Lazy["Pages"] = Lazy()
    changes: Lazy["Changes"] = Lazy()
    notices: Lazy["Notices"] = Lazy()
    acquisition: Lazy["Acquisition"] = Lazy()
    documents: Lazy["Documents"] = Lazy()
    operating: Lazy["Operating"] = Lazy()
    judging: Lazy["Judging"] = Lazy()
    watching: Lazy["Watching"] = Lazy()


def build(settings: Settings, embedded: EmbeddedServers | None = None, **overrides: Any) -> App:
    """Build the App. `overrides` replace adapters that it would build itself, such as `redis`."""
    return App(settings, overrides=overrides, embedded=embedded)
