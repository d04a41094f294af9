"""Several notices for one address, gathered into one."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from crawler.domain.notices.notice import Mail

MOST_SHOWN = 50
"""Notices whose whole text a mail has; of the others it has the subjects."""


def digest_mail(product: str, payloads: Sequence[Mapping[str, Any]]) -> Mail:
    """One mail of several: first what they are about, then each as it would have been."""
    mails = [Mail(payload["subject"], payload["text"], payload["html"]) for payload in payloads]
    if len(mails) == 1:
        return mails[0]
    subjects = [mail.subject.removeprefix(f"[{product}] ") for mail in mails]
    head = "\n".join(f"- {subject}" for subject in subjects)
    texts = [f"{'=' * 60}\n{mail.subject}\n\n{mail.text}" for mail in mails[:MOST_SHOWN]]
    text = "\n\n".join([f"{len(mails)} notices:\n\n{head}", *texts])
    # Each is markup of our own, in which what was crawled is escaped.
    bodies = [mail.html.removeprefix("<html><body>").removesuffix("</body></html>") for mail in mails[:MOST_SHOWN]]
    parts = [f"<hr><h3>{escape(subject)}</h3>{body}" for subject, body in zip(subjects, bodies, strict=False)]
    names = "".join(f"<li>{escape(subject)}</li>" for subject in subjects)
    html = f"<html><body><p>{len(mails)} notices:</p><ul>{names}</ul>{''.join(parts)}</body></html>"
    return Mail(f"[{product}] {len(mails)} notices", text, html)


def digest_payload(payloads: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The body of one webhook in place of several."""
    return dict(payloads[0]) if len(payloads) == 1 else {"event": "digest", "notices": [dict(one) for one in payloads]}
