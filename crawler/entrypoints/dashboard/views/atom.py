"""The feed of changes as Atom (RFC 4287). What was crawled is text: it is escaped, and never markup."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from html import escape
from typing import Any
from urllib.parse import urlencode
from xml.sax.saxutils import escape as xml

from crawler.domain.changes.feed import FeedEntry, FeedPage
from crawler.domain.diffs.word_diff import WordKind
from crawler.entrypoints.dashboard.serving.words import counted, plain

_UNUSABLE = re.compile("[^\\t\\n\\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKS = {WordKind.SAME: "{}", WordKind.REMOVED: "<del>{}</del>", WordKind.ADDED: "<ins>{}</ins>"}
_KINDS = {"changed": "Changed", "site_wide": "On many pages", "new": "New", "removed": "Removed", "moved": "Moved",
          "watched": "Watched"}  # fmt: skip
_COUNTS = (("changed_pages", "changed"), ("new_pages", "new"), ("removed_pages", "removed"), ("moved_pages", "moved"),
           ("watched_pages", "with another watched value"))  # fmt: skip


def atom(entries: Sequence[FeedEntry], *, title: str, base: str, path: str, now: datetime) -> str:
    """`base` is where our pages are; `path` is the feed's own, without its secret."""
    updated = entries[0].at if entries else now
    parts = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<title>{_text(title)}</title>",
        f"<id>{_text(f'{base}{path}')}</id>",
        f"<link href={_quoted(f'{base}/')}/>",
        f"<updated>{_moment(updated)}</updated>",
        *(_entry(entry, base) for entry in entries),
        "</feed>",
    ]
    return "\n".join(parts)


def _entry(entry: FeedEntry, base: str) -> str:
    link = f"{base}/crawls/{entry.crawl_id}/changes"
    told = ", ".join(f"{entry.counts[name]:,} {word}" for name, word in _COUNTS if entry.counts.get(name))
    if not told:
        told = counted(entry.counts.get("template_changes", 0), "site-wide edit")
    content = "".join(_page(page, entry, base) for page in entry.pages)
    if entry.more:
        content += f"<p>and {counted(entry.more, 'more change')}</p>"
    return (
        f"<entry><title>{_text(f'{plain(entry.project_name, 100)}: {told}')}</title><id>urn:uuid:{entry.crawl_id}</id>"
        f"<link href={_quoted(link)}/><updated>{_moment(entry.at)}</updated>"
        f"<author><name>{_text(plain(entry.project_name, 100))}</name></author>"
        f'<content type="html">{_text(content)}</content></entry>'
    )


def _page(page: FeedPage, entry: FeedEntry, base: str) -> str:
    where = f"{base}/crawls/{entry.crawl_id}/changes/page?{urlencode({'url': page.url})}"
    name = escape(plain(page.url, 200))
    head = f'<a href="{escape(where)}">{name}</a>' if page.lines else name
    moved = f" → {escape(plain(page.target, 200))}" if page.target else ""
    lines = "".join(f"<li>{_line(line)}</li>" for line in page.lines)
    return f"<p>{_KINDS[page.kind.value]}: {head}{moved}</p>" + (f"<ul>{lines}</ul>" if lines else "")


def _line(line: Any) -> str:
    return "".join(_MARKS[run.kind].format(escape(plain(run.text, 400))) + " " for run in line.words).strip()


def _text(said: str) -> str:
    return xml(_UNUSABLE.sub("\ufffd", said))


def _quoted(address: str) -> str:
    return f'"{escape(_UNUSABLE.sub("", address))}"'


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
