"""Fills the templates of a recipient: in a judge, because a template can loop.

What templates see, and what is sent when one fails: `domain/notices/templates.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol
from uuid import UUID

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.ports import CrawlReader, ProjectReader
from crawler.domain.judging import OpenJudge
from crawler.domain.notices.chat_text import values_without_markup
from crawler.domain.notices.mail import Sender, changes_mail
from crawler.domain.notices.notice import Channel, Mail
from crawler.domain.notices.recipients import RecipientOrder
from crawler.domain.notices.templates import (
    LONGEST_BODY,
    LONGEST_SUBJECT,
    SECONDS,
    Rendered,
    rendered,
    template_values,
    templated_mail,
    templated_payload,
)
from crawler.domain.watching.telling import TellReason
from crawler.errors import Invalid, JudgesBusy, TooSlowToTry


class PastCrawls(CrawlReader, ProjectReader, Protocol):
    def list_crawls(self, project_id: UUID, limit: int = ..., before: UUID | None = ...) -> list[CrawlJob]: ...


class Filled(NamedTuple):
    mail: Mail
    payload: dict[str, Any]


class FillTemplates:
    def __init__(self, crawls: PastCrawls, sender: Sender, open_judge: OpenJudge) -> None:
        self._crawls = crawls
        self._sender = sender
        self._open_judge = open_judge

    def __call__(
        self,
        recipient: RecipientOrder,
        crawl: CrawlJob,
        reasons: Sequence[TellReason],
        mail: Mail,
        payload: Mapping[str, Any],
    ) -> Filled:
        """What this recipient is sent, in the words of its templates."""
        if recipient.subject_template is None and recipient.body_template is None:
            return Filled(mail, dict(payload))
        project = self._crawls.get_project(crawl.project_id)
        values = template_values(project, crawl, reasons, mail, self._sender.link(crawl))
        if recipient.channel is Channel.APPRISE:  # the template's own markup stays
            values = values_without_markup(values)
        body = self._rendered(recipient.body_template, values, LONGEST_BODY)
        if recipient.channel is Channel.WEBHOOK:
            return Filled(mail, templated_payload(payload, body))
        subject = self._rendered(recipient.subject_template, values, LONGEST_SUBJECT)
        return Filled(templated_mail(mail, subject, body), dict(payload))

    def preview(self, project_id: UUID, recipient: RecipientOrder) -> Filled:
        """What the recipient would be sent of the newest crawl that was compared."""
        project = self._crawls.get_project(project_id)
        found = next((one for one in self._crawls.list_crawls(project_id, 20) if one.change_summary), None)
        if found is None:
            raise Invalid("No crawl of this project was compared with another yet: there is nothing to show.")
        crawl = self._crawls.get_crawl(found.id)
        mail = changes_mail(self._sender, project, crawl)
        return self(recipient, crawl, (), mail, {"event": "crawl_completed", "crawl_id": str(crawl.id)})

    def _rendered(self, written: str | None, values: Mapping[str, Any], longest: int) -> Rendered | None:
        if written is None:
            return None
        try:
            with self._open_judge() as judge:
                return judge.one(rendered, written, values, longest, seconds=SECONDS)
        except (TooSlowToTry, JudgesBusy):
            return Rendered(None, "it takes too long")
