"""Manage who else is told of a project. What a recipient is: `domain/notices/recipients.py`."""

from datetime import datetime
from typing import Protocol
from uuid import UUID

from crawler.domain.clock import Clock
from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.ids import new_id
from crawler.domain.notices.channels import masked, unmasked, why_refused
from crawler.domain.notices.notice import Channel
from crawler.domain.notices.recipients import MOST_RECIPIENTS, Recipient, RecipientOrder
from crawler.errors import Invalid, InvalidConfig
from crawler.handlers.notices.set_schedule import Reach, check_webhook


class Recipients(Protocol):
    def of_project(self, project_id: UUID) -> list[Recipient]: ...
    def get(self, project_id: UUID, recipient_id: UUID) -> Recipient: ...
    def save(self, recipient: Recipient) -> Recipient: ...
    def remove(self, project_id: UUID, recipient_id: UUID) -> None: ...
    def apprise_urls(self, project_id: UUID) -> tuple[str, ...]: ...


class ManageRecipients:
    def __init__(self, projects: ProjectReader, recipients: Recipients, reach: Reach, clock: Clock) -> None:
        self._projects = projects
        self._recipients = recipients
        self._reach = reach
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
        shown = order.model_copy(update={"address": masked(order.address)}) if _is_secret(order) else order
        same = next((one for one in known if one.order == shown), None)
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
            check_webhook(self._reach.rule(), order.address, "address")
        address = self._revealed(project_id, order.address) if _is_secret(order) else order.address
        given = {**order.model_dump(), "address": address}
        return self._recipients.save(Recipient(**given, id=identity, project_id=project_id, created_at=at))

    def _revealed(self, project_id: UUID, given: str) -> str:
        """The Apprise URL itself where the mask of a known one was given; a new one is checked."""
        known = self._recipients.apprise_urls(project_id)
        (url,) = unmasked([given], known)
        if url in known:
            return url
        why = why_refused(url, self._reach.rule(), webhook="the channel webhook", mail="the channel email")
        if why := why or self._reach.why_unusable([url])[0]:
            raise InvalidConfig(f"address: {why}.")
        return url


def _is_secret(order: RecipientOrder) -> bool:
    return order.channel is Channel.APPRISE
