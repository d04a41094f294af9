"""Watch rules as commands need them: on this machine, and by a service."""

from typing import Any, Protocol, TypeVar
from uuid import UUID

from pydantic import BaseModel, ValidationError

from crawler.client.watching import Watching
from crawler.domain.watching.picking import Picked
from crawler.domain.watching.previews import WatchPreview
from crawler.domain.watching.rules import WatchOrder, WatchRule
from crawler.errors import Unavailable
from crawler.handlers.watching.manage_watch import ManageWatch
from crawler.handlers.watching.pick_selector import PickSelector
from crawler.handlers.watching.preview_watch import PreviewWatch

Kind = TypeVar("Kind", bound=BaseModel)


class WatchBackend(Protocol):
    def list_rules(self, project_id: UUID) -> list[WatchRule]: ...
    def add(self, project_id: UUID, order: WatchOrder) -> WatchRule: ...
    def set_enabled(self, project_id: UUID, rule_id: UUID, *, enabled: bool) -> WatchRule: ...
    def remove(self, project_id: UUID, rule_id: UUID) -> None: ...
    def preview(self, project_id: UUID, order: WatchOrder) -> WatchPreview: ...
    def pick(self, project_id: UUID, url: str, *, text: str, selector: str) -> Picked: ...


class LocalWatch:
    def __init__(self, manage: ManageWatch, preview: PreviewWatch, pick: PickSelector) -> None:
        self.list_rules = manage.list_rules
        self.add = manage.add
        self.set_enabled = manage.set_enabled
        self.remove = manage.remove
        self._preview = preview
        self._pick = pick

    def pick(self, project_id: UUID, url: str, *, text: str, selector: str) -> Picked:
        return self._pick(project_id, self._pick.page_at(project_id, url), text=text, selector=selector)

    def preview(self, project_id: UUID, order: WatchOrder) -> WatchPreview:
        return self._preview(project_id, order)


class RemoteWatch:
    def __init__(self, client: Watching) -> None:
        self._client = client

    def list_rules(self, project_id: UUID) -> list[WatchRule]:
        return [_rule(rule) for rule in self._client.rules(project_id)]

    def add(self, project_id: UUID, order: WatchOrder) -> WatchRule:
        return _rule(self._client.add(project_id, **_sent(order)))

    def set_enabled(self, project_id: UUID, rule_id: UUID, *, enabled: bool) -> WatchRule:
        return _rule(self._client.enable(project_id, rule_id, enabled=enabled))

    def remove(self, project_id: UUID, rule_id: UUID) -> None:
        self._client.remove(project_id, rule_id)

    def preview(self, project_id: UUID, order: WatchOrder) -> WatchPreview:
        return _as(WatchPreview, self._client.preview(project_id, **_sent(order)).model_dump())

    def pick(self, project_id: UUID, url: str, *, text: str, selector: str) -> Picked:
        return _as(Picked, self._client.pick(project_id, url, text=text, selector=selector).model_dump())


def _sent(order: WatchOrder) -> dict[str, Any]:
    return order.model_dump(mode="json")


def _rule(found: BaseModel) -> WatchRule:
    return _as(WatchRule, found.model_dump(exclude={"described"}))


def _as(kind: type[Kind], found: dict[str, Any]) -> Kind:
    try:
        return kind.model_validate(found)
    except ValidationError as exc:
        raise Unavailable("The service knows rules that this version of the command does not.") from exc
