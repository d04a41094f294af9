"""Categories of the acquisition queue, for commands: local and remote backend.

Decided in `handlers/acquisition/manage_categories.py`.
"""

from collections.abc import Mapping
from typing import Any, Protocol
from uuid import UUID

from crawler import client as service
from crawler.bootstrap import App
from crawler.domain.acquisition.categories import CategoryShown, DryRun


class CategoryBackend(Protocol):
    def list_all(self) -> list[CategoryShown]: ...
    def show(self, name: str) -> CategoryShown: ...
    def set(self, name: str, selectors: Mapping[str, Any]) -> CategoryShown: ...
    def delete(self, name: str, *, force: bool) -> None: ...
    def try_on(
        self,
        name: str,
        selectors: Mapping[str, Any] | None,
        *,
        page_id: UUID | None,
        url: str | None,
        queue_id: int | None,
    ) -> DryRun: ...


class LocalCategories:
    def __init__(self, tools: App) -> None:
        self._manage = tools.acquisition.manage_categories

    def list_all(self) -> list[CategoryShown]:
        return self._manage.list_all()

    def show(self, name: str) -> CategoryShown:
        return self._manage.show(name)

    def set(self, name: str, selectors: Mapping[str, Any]) -> CategoryShown:
        return self._manage.set(name, selectors)

    def delete(self, name: str, *, force: bool) -> None:
        self._manage.delete(name, force=force)

    def try_on(
        self,
        name: str,
        selectors: Mapping[str, Any] | None,
        *,
        page_id: UUID | None,
        url: str | None,
        queue_id: int | None,
    ) -> DryRun:
        return self._manage.try_on(name, selectors=selectors, page_id=page_id, url=url, queue_id=queue_id)


class RemoteCategories:
    def __init__(self, categories: service.Categories) -> None:
        self._categories = categories

    def list_all(self) -> list[CategoryShown]:
        return [CategoryShown.model_validate(found.model_dump()) for found in self._categories.list()]

    def show(self, name: str) -> CategoryShown:
        return CategoryShown.model_validate(self._categories.get(name).model_dump())

    def set(self, name: str, selectors: Mapping[str, Any]) -> CategoryShown:
        return CategoryShown.model_validate(self._categories.set(name, selectors).model_dump())

    def delete(self, name: str, *, force: bool) -> None:
        self._categories.delete(name, force=force)

    def try_on(
        self,
        name: str,
        selectors: Mapping[str, Any] | None,
        *,
        page_id: UUID | None,
        url: str | None,
        queue_id: int | None,
    ) -> DryRun:
        told = self._categories.try_on(name, selectors=selectors, page_id=page_id, url=url, queue_id=queue_id)
        return DryRun.model_validate(told.model_dump())
