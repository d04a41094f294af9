"""Notices as mails. What was crawled is text, never markup; lists end after a hundred."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from html import escape
from typing import Any, NamedTuple
from urllib.parse import urlencode

from crawler.domain.changes.coverage import coverage_sentence
from crawler.domain.changes.coverage_words import because
from crawler.domain.changes.page_digest import LineChange, PageDigest
from crawler.domain.changes.wall_words import redirect_sentences, wall_sentences
from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.crawls.project import Project
from crawler.domain.diffs.word_diff import WordKind
from crawler.domain.notices.chat_text import without_markup
from crawler.domain.notices.notice import Mail, Streak, has_changes
from crawler.domain.plain_text import one_line

MOST_LISTED = 100
MOST_IGNORED = 3
"""Lines of one page that have a link to ignore them."""
MOST_LEADING = 3
"""Sections of pages that stand above the counts."""
LONGEST_WORDS = 60
MOST_TEMPLATES = 10
LONGEST_SUBJECT = 200
LONGEST_NAME = 60
LONGEST_SIDE = 40
"""Of a subject: characters of a project's name, and of what a line said before and says now."""
LONGEST_BRIEF = 1800
ASK = "Please review these changes and determine if content regeneration is needed."
_DETAILS = "View details: "
_EDITS = "The same edit on many pages"
_ADDRESSES = re.compile(r"(?:Changed: )?https?://[^\s…]+(?: → https?://[^\s…]+)?").fullmatch
_ADDRESS = re.compile(r"https?://\S+").sub
_OLD, _NEW = "background:#fbdcd8;", "background:#d6f0df;text-decoration:underline;"
_MARKS = {
    WordKind.SAME: "{} ",
    WordKind.REMOVED: f'<del style="{_OLD}">{{}}</del> ',
    WordKind.ADDED: f'<ins style="{_NEW}">{{}}</ins> ',
}
_QUOTES = re.compile('[“”„‟"]').sub
_LINK = '<a href="{0}" rel="noreferrer">{0}</a>'


Sign = Callable[[dict[str, Any]], str]


class Link(NamedTuple):
    words: str
    address: str


class Section(NamedTuple):
    """A heading and its lines, one below the other."""

    title: str
    lines: Sequence[str] = ()
    bulleted: bool = False
    edits: Sequence[LineChange] = ()
    """The same lines word by word, where a mail can show that."""
    links: Sequence[Link] = ()


PageLinks = Callable[[PageDigest], Sequence[Link]]


class Sender(NamedTuple):
    """Whose mails these are, and where their readers look further."""

    product: str
    dashboard_url: str | None
    sign: Sign | None = None
    """Makes tokens for links that somebody without a session may open; they only ask before they do anything."""

    def link(self, crawl: CrawlJob) -> str | None:
        return self._at(f"/crawls/{crawl.id}")

    def page_link(self, crawl: CrawlJob, url: str) -> str | None:
        """Where a page's change is shown word by word."""
        return self._at(f"/crawls/{crawl.id}/changes/page?{urlencode({'url': url})}")

    def page_links(self, crawl: CrawlJob, page: PageDigest) -> list[Link]:
        """What can be done about a changed page."""
        shown = self.page_link(crawl, page.url)
        found = [Link("See the change", shown)] if shown else []
        for line in page.lines[:MOST_IGNORED]:
            ask = self._signed({"do": "ignore", "crawl": str(crawl.id), "url": page.url, "line": line_mark(line)})
            said = line.added or line.removed or ""
            words = one_line(f"{line.context}: {said}" if line.context else said, LONGEST_WORDS)
            found += [Link(f"Ignore this block: {_quoted(words)}", ask)] if ask else []
        return found

    def mute_links(self, project: Project) -> list[Link]:
        asked = ((days, self._signed({"do": "mute", "project": str(project.id), "days": days})) for days in (1, 7))
        return [Link(f"Mute this project for a {'day' if days == 1 else 'week'}", ask) for days, ask in asked if ask]

    def _signed(self, asked: dict[str, Any]) -> str | None:
        return self._at(f"/act/{self.sign(asked)}") if self.sign and self.dashboard_url else None

    def _at(self, path: str) -> str | None:
        return f"{self.dashboard_url.rstrip('/')}{path}" if self.dashboard_url else None


def line_mark(line: LineChange) -> str:
    """Tells a changed line of a page apart from its others."""
    return blake2b(f"{line.removed}\0{line.added}".encode(), digest_size=8).hexdigest()


def changes_mail(
    sender: Sender, project: Project, crawl: CrawlJob, details: Iterable[Section] = (), *, by_schedule: bool = True
) -> Mail:
    """A mail about a crawl's changes: what changed on the first pages, the counts and new pages, the other `details`.

    It says so if nothing changed. `by_schedule`: False of a crawl that somebody asked for, though its changes are told
    like those of scheduled ones.
    """
    the_crawl = f"The {'scheduled ' if by_schedule and crawl.crawl_type is CrawlType.SCHEDULED else ''}crawl"
    the_crawl += f" for {_named(project, crawl)}"
    summary = crawl.change_summary or {}
    mutes = sender.mute_links(project)
    details = [*details, *([Section("Too many mails?", links=mutes)] if mutes else [])]
    if not has_changes(summary) and not summary["new_page_urls"]:
        nothing = f"{the_crawl} completed and detected no changes."
        subject = f"[{sender.product}] No changes for {project.name}"
        return _mail(subject, [Section(nothing)], sender.link(crawl), details)
    counts = summary["summary"]
    found = "significant changes" if summary["is_significant"] else "changes"
    numbers = [f"{kind} pages: {counts[f'{kind.lower()}_pages']}" for kind in ("New", "Changed", "Removed")]
    if edited := summary.get("template_pages", 0):
        numbers[1] += f", and {edited} by an edit of many pages"
    ours = (("Moved pages", summary.get("moved_pages", 0)), (_EDITS, len(summary.get("template_changes", ()))))
    numbers += [f"{name}: {number}" for name, number in ours if number]
    lead = max((number + 1 for number, part in enumerate(details[:MOST_LEADING]) if part.edits), default=0)
    opening = f"{the_crawl} completed and detected {found}:"
    parts = [*details[:lead], Section(opening, numbers, bulleted=True)]
    if summary["new_page_urls"]:
        parts.append(Section("New pages:", shortened(summary["new_page_urls"])))
    first = next((edit for part in details for edit in part.edits), None)
    subject = f"{found.capitalize()} detected for {project.name}"
    if first and not summary["is_significant"]:
        others = sum(counts[f"{kind}_pages"] for kind in ("new", "changed", "removed")) - 1
        more = f", and {others} more page{'s' if others > 1 else ''}" if others > 0 else ""
        subject = f"{one_line(project.name, LONGEST_NAME)}: {_in_short(first)}{more}"
    if any(part.links for part in details[:lead]):
        parts.append(Section("The links below a page show its whole change, or ignore what does not matter."))
    return _mail(
        f"[{sender.product}] {subject}",
        [*parts, Section(ASK)],
        sender.link(crawl),
        details[lead:],
    )


def trial_mail(sender: Sender, project: Project | None) -> Mail:
    """What somebody gets who asks whether messages arrive."""
    about = f"about {project.name}" if project else "from here"
    words = f"This is a test. Messages {about} arrive at this address. Nothing has changed."
    return _mail(f"[{sender.product}] Test message", [Section(words)], None)


def failing_mail(sender: Sender, project: Project, crawl: CrawlJob, streak: Streak) -> Mail:
    runs = "the last run" if streak.runs == 1 else f"the last {streak.runs} runs"
    since = f" since {_moment(streak.since)}" if streak.since else ""
    blind = coverage_sentence(crawl.change_summary)
    if crawl.comparison_failed:
        opening = f"What changed on {_named(project, crawl)} could not be found out: {runs} failed{since}."
        said = Section("The pages were fetched, but could not be compared:", [crawl.comparison_failed])
        subject = f"[{sender.product}] Could not compare {project.name}"
    elif blind:
        opening = f"The scheduled crawl for {_named(project, crawl)} does not see enough of it: {runs} failed{since}."
        said = Section("The last one said:", [blind])
        subject = f"[{sender.product}] Could not compare enough of {project.name}"
    else:
        opening = f"The scheduled crawl for {_named(project, crawl)} could not be done: {runs} failed{since}."
        said = Section("The last one said:", [crawl.error_message or "nothing"])
        subject = f"[{sender.product}] Could not crawl {project.name}"
    nothing = "What was stored before stays as it is. You will be told once more, when it works again."
    behind = list(_unseen_pages(crawl.change_summary or {}))
    return _mail(subject, [Section(opening), said, Section(nothing)], sender.link(crawl), behind)


def recovered_mail(sender: Sender, project: Project, crawl: CrawlJob) -> Mail:
    opening = f"The scheduled crawl for {_named(project, crawl)} works again: it stored {crawl.pages_crawled} pages."
    coverage = (crawl.change_summary or {}).get("coverage")
    if coverage:
        told = f"{coverage['compared']} of {coverage['expected']} pages could be compared"
        opening += f" {told}; what changed meanwhile is told as usual."
    return _mail(f"[{sender.product}] {project.name} can be crawled again", [Section(opening)], sender.link(crawl))


def change_sections(
    summary: Mapping[str, Any], digests: Sequence[PageDigest] = (), links: PageLinks = lambda _: ()
) -> Iterator[Section]:
    """What changed, page by page, for the part of a mail below its opening; older summaries say less."""
    yield from _changed_pages(summary, digests, links)
    if by_hash := summary.get("by_hash"):
        pages = shortened([page["url"] for page in by_hash])
        yield Section(f"Too large to weigh, changed by hash ({summary['by_hash_pages']}):", pages)
    yield from _removed_pages(summary)
    if moved := summary.get("moved"):
        yield Section("Moved pages:", shortened([f"{pair['from']} → {pair['to']}" for pair in moved]))
        for pair in [pair for pair in moved if pair.get("edits")][:MOST_LISTED]:
            edits = [LineChange(edit["removed"], edit["added"]) for edit in pair["edits"]]
            yield Section(f"Changed when it moved: {pair['to']}", [text for edit in edits for text in _sides(edit)])
    for change in summary.get("template_changes", ())[:MOST_TEMPLATES]:
        yield _template_change(change)
    sentence = coverage_sentence(summary)
    unseen = [sentence] if sentence else []
    if unseen := [*unseen, *wall_sentences(summary.get("wall_notes", ()))]:
        yield Section("Not seen this time:", unseen)


def _unseen_pages(summary: Mapping[str, Any]) -> Iterator[Section]:
    """Which pages could not be compared: the first of each group."""
    for group in (summary.get("coverage") or {}).get("unseen", ()):
        more = group["pages"] - len(group["example_urls"])
        rest = [f"… and {more} more"] if more > 0 else []
        yield Section(f"Not compared, because {because(group)}:", [*group["example_urls"], *rest])


def _changed_pages(summary: Mapping[str, Any], digests: Sequence[PageDigest], links: PageLinks) -> Iterator[Section]:
    for page in digests:
        yield Section(f"Changed: {page.url}", list(_lines(page)), edits=page.lines, links=links(page))
    shown = {page.url for page in digests}
    if others := [url for url in summary.get("changed_page_urls", ()) if url not in shown]:
        yield Section("Other changed pages:" if shown else "Changed pages:", shortened(others))


def _removed_pages(summary: Mapping[str, Any]) -> Iterator[Section]:
    if removed := summary.get("removed_page_urls"):
        target = {page["url"]: page["target"] for page in summary.get("removals", ()) if page.get("target")}
        lines = [f"{url} → {target[url]}" if url in target else url for url in removed]
        together = redirect_sentences(summary.get("redirected_together", ()))
        yield Section("Removed pages:", [*together, *shortened(lines)])


def _template_change(change: Mapping[str, Any]) -> Section:
    sides = [f"{mark} {change[side]}" for mark, side in (("-", "removed"), ("+", "added")) if change[side]]
    own = f"On {change['pages']} pages, each with values of its own, for example:"
    return Section(own if change.get("own_values") else f"The same on {change['pages']} pages:", sides)


def _lines(page: PageDigest) -> Iterator[str]:
    if page.also_at:
        yield f"also at {', '.join(page.also_at)}"
    for line in page.lines:
        if line.context:
            yield _called(line)
        yield from _sides(line)
    if page.more:
        yield f"… and {page.more} more"
    if page.note:
        yield page.note


def _in_short(line: LineChange) -> str:
    """A change in the few words of a subject: what differs, if it is short enough, else the beginning of the line."""
    if line.removed is None or line.added is None:
        said = one_line(line.added or line.removed or "", LONGEST_WORDS)
        return f"{'new' if line.removed is None else 'gone'}: {said}"
    old, new = (
        " ".join(run.text for run in line.words if run.kind is kind) for kind in (WordKind.REMOVED, WordKind.ADDED)
    )
    if not (old.strip() and new.strip()):
        old, new = line.removed, line.added
    return f"{one_line(old, LONGEST_SIDE)} → {one_line(new, LONGEST_SIDE)}"


def _sides(line: LineChange) -> Iterator[str]:
    yield from (f"{mark} {text}" for mark, text in (("-", line.removed), ("+", line.added)) if text is not None)


def brief(text: str) -> str:
    """A mail's text for channels that take a few words only: whole lines, as many as fit, and where to read on."""
    if len(text) <= LONGEST_BRIEF:
        return text
    link = next((line for line in text.splitlines() if line.startswith(_DETAILS)), "")
    shown = text[: LONGEST_BRIEF - len(link)].rpartition("\n")[0].rstrip()
    return f"{shown}\n…" if not link or link in shown else f"{shown}\n…\n\n{link}"


def shortened(lines: Sequence[str]) -> list[str]:
    more = len(lines) - MOST_LISTED
    return [*lines[:MOST_LISTED], *([f"… and {more} more"] if more > 0 else [])]


def _mail(subject: str, parts: Sequence[Section], link: str | None, details: Iterable[Section] = ()) -> Mail:
    below = list(details)
    text = [*_paragraphs(parts), *([f"{_DETAILS}{link}"] if link else []), *_paragraphs(below)]
    anchor = f'<p>View details: <a href="{escape(link)}">{escape(link)}</a></p>' if link else ""
    html = "".join([*map(_markup, parts), anchor, *map(_markup, below)])
    subject = without_markup(one_line(subject, LONGEST_SUBJECT))
    return Mail(subject, "\n\n".join(text) + "\n", f"<html><body>{html}</body></html>")


def _paragraphs(parts: Iterable[Section]) -> Iterator[str]:
    """Sections as plain text, which goes to chats, too. A bulleted list stands apart from its heading."""
    for part in parts:
        lines = [("- " if part.bulleted else "") + without_markup(one_line(line)) for line in part.lines]
        gap = "\n\n" if part.bulleted else "\n"
        linked = [f"{without_markup(link.words)}: {link.address}" for link in part.links]
        yield f"{without_markup(one_line(part.title))}{gap}{chr(10).join([*lines, *linked])}".rstrip()


def _markup(part: Section) -> str:
    links = " · ".join(f'<a href="{escape(link.address)}">{escape(link.words)}</a>' for link in part.links)
    told = "".join(f"<li>{item}</li>" for item in _items(part))
    below = f"<p>{links}</p>" if links else ""
    return f"<p>{_linked(one_line(part.title))}</p>" + (f"<ul>{told}</ul>" if told else "") + below


def _items(part: Section) -> Iterator[str]:
    """The lines of a section. Those of an edit, which follow each other, are one item: word by word."""
    left = list(part.edits)
    for text in part.lines:
        of_edit = (*([_called(left[0])] if left[0].context else []), *_sides(left[0])) if left else ()
        if text not in of_edit:
            yield _linked(one_line(text))
        elif text == of_edit[-1]:
            yield _by_word(left.pop(0))


def _by_word(line: LineChange) -> str:
    """A changed line with its words struck out and underlined. What pages say is text, never markup."""
    before = f"{escape(one_line(_called(line)))} " if line.context else ""
    return before + "".join(_MARKS[run.kind].format(escape(one_line(run.text))) for run in line.words).strip()


def _called(line: LineChange) -> str:
    """What a line is a value of, which stands before it; in quotes, because it would pass for words of ours."""
    return f"{_quoted(line.context or '')}:"


def _quoted(said: str) -> str:
    """Words of a page. It cannot end its own quotes and go on like us."""
    return f"“{_QUOTES(chr(39), said)}”"


def _linked(line: str) -> str:
    """Escaped; a line of nothing but addresses has them as links. What pages say is never a link."""
    if not _ADDRESSES(line):
        return escape(line)
    return _ADDRESS(lambda found: _LINK.format(escape(found[0])), line)


def _named(project: Project, crawl: CrawlJob) -> str:
    return f"{project.name} ({one_line(project.website_url or crawl.seed_url, LONGEST_SUBJECT)})"


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
