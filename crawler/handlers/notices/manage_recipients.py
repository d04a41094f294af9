"""Manage who else is told of a project. What a recipient is: `domain/notices/recipients.py`."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from crawler.domain.clock import Clock
from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.hosts.egress import EgressRule
from crawler.domain.ids import new_id
from crawler.domain.notices.notice import Channel
from crawler.domain.notices.recipients import MOST_RECIPIENTS, Recipient, RecipientOrder
from crawler.errors import Invalid
from crawler.handlers.notices.set_schedule import check_webhook


class Recipients(Protocol):
    def of_project(self, project_id: UUID) -> list[Recipient]: ...
    def get(self, project_id: UUID, recipient_id: UUID) -> Recipient: ...
    def save(self, recipient: Recipient) -> Recipient: ...
    def remove(self, project_id: UUID, recipient_id: UUID) -> None: ...


class ManageRecipients:
    def __init__(self, projects: ProjectReader, recipients: Recipients, rule: EgressRule, clock: Clock) -> None:
        self._projects = projects
        self._recipients = recipients
        self._rule = rule
        self._clock = clock

    def list(self, project_id: UUID) -> list[Recipient]:
        self._projects.get_project(project_id)
        return self._recipients.of_project(project_id)

    def get(self, project_id: UUID, recipient_id: UUID) -> Recipient:
        self._projects.get_project(project_id)
        return self._recipients.get(project_id, recipient_id)

    def add(self, project_id: UUID, order: RecipientOrder) -> Recipient:
        """Told from the next crawl on. The same recipient twice is one."""
        known = self.list(project_id)
        same = next((one for one in known if one.order == order), None)
        if same is not None:
            return same
        if len(known) >= MOST_RECIPIENTS:
            raise Invalid(f"A project has {MOST_RECIPIENTS} recipients at most; remove some first.")
        now = self._clock()
        return self._save(order, new_id(int(now.timestamp() * 1000)), project_id, now)

    def replace(self, project_id: UUID, recipient_id: UUID, order: RecipientOrder) -> Recipient:
        known = self.get(project_id, recipient_id)
        return self._save(order, known.id, project_id, known.created_at)

    def mute(self, project_id: UUID, recipient_id: UUID, until: datetime | None) -> Recipient:
        """Tell of no changes until then; None ends it."""
        order = self.get(project_id, recipient_id).order
        return self.replace(project_id, recipient_id, order.model_copy(update={"muted_until": until}))

    def remove(self, project_id: UUID, recipient_id: UUID) -> None:
        self._projects.get_project(project_id)
        self._recipients.remove(project_id, recipient_id)

    def _save(self, order: RecipientOrder, identity: UUID, project_id: UUID, at: datetime) -> Recipient:
        if order.channel is Channel.WEBHOOK:
            check_webhook(self._rule, order.address, "address")
        return self._recipients.save(Recipient(**order.model_dump(), id=identity, project_id=project_id, created_at=at))
