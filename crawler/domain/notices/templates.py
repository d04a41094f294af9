"""Templates of people for the subject and body of a notice, in a sandbox: they see values, and can call nothing else.

They are rendered by a judge (`domain/judging.py`), because a template can loop. One that fails costs nobody a notice:
the usual words are sent, with a line that says what is wrong.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

import orjson
from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.crawls.project import Project
from crawler.domain.notices.notice import Mail
from crawler.domain.plain_text import one_line
from crawler.domain.watching.telling import TellReason

LONGEST_SUBJECT = 200
LONGEST_BODY = 200_000
MOST_LISTED = 100
SECONDS = 2.0
_NUL = rb"\u0000"
_environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)


class Rendered(NamedTuple):
    text: str | None
    problem: str | None = None


def check_template(written: str) -> str:
    """The template as it is kept. Raises ValueError with a sentence for what is none."""
    try:
        _environment.parse(written)
    except TemplateError as exc:
        raise ValueError(f"it is no template: {one_line(str(exc), 200)}") from exc
    except RecursionError as exc:
        raise ValueError("it is no template: it is nested too deeply") from exc
    return written


def rendered(written: str, values: Mapping[str, Any], longest: int) -> Rendered:
    """What a template makes of these values: a function that a judge runs."""
    try:
        text = _environment.from_string(written).render(values)
    except Exception as exc:  # noqa: BLE001 - whatever a template does wrong is said, and harms nobody
        return Rendered(None, one_line(f"{type(exc).__name__}: {exc}", 300))
    return Rendered(_storable(text[:longest]))


def _storable(text: str) -> str:
    """Without what neither a database nor a mail can hold: NUL, and halves of characters."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def template_values(
    project: Project, crawl: CrawlJob, reasons: Sequence[TellReason], mail: Mail, link: str | None
) -> dict[str, Any]:
    """What templates see."""
    summary = crawl.change_summary or {}
    counts = summary.get("summary", {})
    return {
        "project": {"id": str(project.id), "name": project.name, "website_url": project.website_url},
        "crawl_id": str(crawl.id),
        "new_pages": counts.get("new_pages", 0),
        "changed_pages": counts.get("changed_pages", 0),
        "removed_pages": counts.get("removed_pages", 0),
        "is_significant": bool(summary.get("is_significant")),
        "new_urls": list(summary.get("new_page_urls", ()))[:MOST_LISTED],
        "changed_urls": list(summary.get("changed_page_urls", ()))[:MOST_LISTED],
        "removed_urls": list(summary.get("removed_page_urls", ()))[:MOST_LISTED],
        "watched": list(summary.get("watched", ()))[:MOST_LISTED],
        "reasons": [reason.as_record() for reason in reasons[:MOST_LISTED]],
        "link": link,
        "subject": mail.subject,
        "text": mail.text,
    }


def templated_mail(mail: Mail, subject: Rendered | None, body: Rendered | None) -> Mail:
    """The mail in the words of the templates, as far as they could be used."""
    found = mail
    if body is not None and body.text is not None:
        found = found._replace(text=body.text, html=f"<html><body><pre>{escape(body.text)}</pre></body></html>")
    if subject is not None and subject.text:
        found = found._replace(subject=one_line(subject.text, LONGEST_SUBJECT))
    problems = [one.problem for one in (subject, body) if one is not None and one.problem]
    if problems:
        words = f"The template could not be used: {'; '.join(problems)}"
        html = found.html.replace("<body>", f"<body><p>{escape(words)}</p>", 1)
        found = found._replace(text=f"{words}\n\n{found.text}", html=html)
    return found


def templated_payload(payload: Mapping[str, Any], body: Rendered | None) -> dict[str, Any]:
    """The body of a webhook as its template makes it, if that is a JSON object."""
    if body is None:
        return dict(payload)
    if body.text is None:
        return {**payload, "template_problem": body.problem}
    try:
        found = orjson.loads(body.text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        return {**payload, "template_problem": "what the template makes is no JSON object"}
    if _NUL in orjson.dumps(found):
        return {**payload, "template_problem": "what the template makes holds the character NUL"}
    return found
