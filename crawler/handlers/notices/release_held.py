"""Sends what waited: for the end of quiet hours, or to be gathered with all else for the same address.

Meanwhile a recipient may have been removed: then it is not sent, and its row says so. Or muted, or its project: then it
waits until that is over, because it happened before.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol
from uuid import UUID

from crawler.domain.clock import Clock
from crawler.domain.crawls.ports import ProjectReader
from crawler.domain.notices.channels import masked
from crawler.domain.notices.digests import digest_mail, digest_payload
from crawler.domain.notices.notice import Channel, DeliveryResult, NoticeKind
from crawler.domain.notices.recipients import Recipient
from crawler.errors import SettingsError
from crawler.handlers.notices.ports import SentNotice
from crawler.handlers.notices.send_notice import SendNotice
from crawler.handlers.notices.sender_places import Receiver, SenderPlaces

GONE = DeliveryResult(delivered=False, words="Not sent: this recipient was removed, or switched off, while it waited.")


class HeldNotice(SentNotice, Protocol):
    @property
    def kind(self) -> str: ...


class HeldNotices(Protocol):
    def due_addresses(self, crawl_id: UUID, now: datetime) -> Sequence[tuple[str, str]]: ...
    def take_due(self, kind: str, address: str, now: datetime) -> Sequence[HeldNotice]: ...
    def put_back(self, identities: Sequence[UUID]) -> None: ...
    def answered_all(self, identities: Sequence[UUID], answer: DeliveryResult) -> None: ...
    def postpone(self, identity: UUID, until: datetime) -> None: ...


class ReleaseHeld:
    def __init__(
        self,
        kept: HeldNotices,
        projects: ProjectReader,
        recipients: Callable[[UUID], Sequence[Recipient]],
        apprise_urls: Callable[[UUID], Sequence[str]],
        send: SendNotice,
        places: SenderPlaces,
        clock: Clock,
        product: str,
    ) -> None:
        self._kept = kept
        self._projects = projects
        self._recipients = recipients
        self._apprise_urls = apprise_urls
        self._send = send
        self._places = places
        self._clock = clock
        self._product = product

    def __call__(self, crawl_id: UUID) -> int:
        """How many notices were sent: those of this crawl, with all else that waits for the same address."""
        sent = 0
        by_project: dict[UUID, Mapping[str, Recipient]] = {}
        for kind, address in self._kept.due_addresses(crawl_id, self._clock()):
            # One after the other: what others wait for at an address does not wait for those before it.
            while group := self._kept.take_due(kind, address, self._clock()):
                due = [one for one in group if self._is_due(one, self._known(one.project_id, by_project))]
                due = self._of_one_chat(due) if kind == Channel.APPRISE else due
                if due and not self._told(due, crawl_id):
                    break
                sent += len(due)
        return sent

    def _told(self, due: Sequence[HeldNotice], crawl_id: UUID) -> bool:
        """Whether there was a place to send them from."""
        first, payloads = due[0], [one.payload for one in due]
        receiver = Receiver.of(first.channel, first.target)
        is_hook = receiver.channel is Channel.WEBHOOK
        gathered = digest_payload(payloads) if is_hook else digest_mail(self._product, payloads)._asdict()
        with self._places.telling(receiver, first.project_id, crawl_id) as is_free:
            if not is_free:
                self._kept.put_back([one.id for one in due])
                return False
            answer = self._send(first.id, first.project_id, first.channel, first.target, gathered)
        self._kept.answered_all([one.id for one in due[1:]], answer)
        return True

    def _of_one_chat(self, due: Sequence[HeldNotice]) -> list[HeldNotice]:
        """Those for the same chat as the first. A mask is short: another project's chat may have the same."""
        chats = {one.project_id: self._chat(one) for one in due}
        same = [one for one in due if chats[one.project_id] == chats[due[0].project_id]]
        self._kept.put_back([one.id for one in due if chats[one.project_id] != chats[due[0].project_id]])
        return same

    def _chat(self, held: HeldNotice) -> str:
        try:
            urls = self._apprise_urls(held.project_id)
        except SettingsError:  # it cannot be sent either, which is told with the notice
            urls = ()
        return next((url for url in urls if masked(url) == held.target), str(held.project_id))

    def _known(self, project_id: UUID, by_project: dict[UUID, Mapping[str, Recipient]]) -> Mapping[str, Recipient]:
        if project_id not in by_project:
            enabled = [one for one in self._recipients(project_id) if one.enabled]
            by_project[project_id] = {one.target.name: one for one in enabled}
        return by_project[project_id]

    def _is_due(self, held: HeldNotice, known: Mapping[str, Recipient]) -> bool:
        recipient, now = known.get(held.channel), self._clock()
        if recipient is None or recipient.address != held.target:
            self._kept.answered_all([held.id], GONE)
            return False
        project = self._projects.get_project(held.project_id)
        mutes = [project.muted_until] if project.is_muted(now) else []
        if held.kind == NoticeKind.CHANGES and recipient.is_muted(now):
            mutes.append(recipient.muted_until)
        ends = [moment for moment in mutes if moment is not None]
        if not ends:
            return True
        self._kept.postpone(held.id, recipient.deliver_at(max(ends)) or max(ends))
        return False
