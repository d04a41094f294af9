"""The summary of a crawl: a JSON object for programs, a page of text for people."""

from collections.abc import Iterable
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from crawler.domain.changes.coverage import coverage_sentence
from crawler.domain.changes.removal_words import missing_words
from crawler.domain.changes.wall_words import PART, wall_sentences
from crawler.domain.crawls.crawl import CrawlJob, CrawlStatus, CrawlType, EndReason
from crawler.domain.crawls.seen_words import cut_words, merged_words, part_words, query_words, unseen_words
from crawler.domain.reason_words import name_of
from crawler.domain.reasons import FAILED, SKIPPED, Reason
from crawler.entrypoints.cli.screen.terminal import short_id
from crawler.entrypoints.cli.screen.terminal_text import count, duration, fit, fit_url, size

SHOWN_URLS = 5
FAILED_SHARE = 0.1
FIELDS = (
    "status", "end_reason", "pages_crawled", "pages_failed", "pages_skipped", "total_discovered", "lightweight",
    "rendered",
)  # fmt: skip

_ENDS = {
    EndReason.EXHAUSTED: "every page that could be found was fetched",
    EndReason.MAX_PAGES: "as many pages as --max-pages allows",
    EndReason.MAX_DURATION: "its time was over",
    EndReason.BLOCKED: "its hosts want to be left alone for longer than it may last",
}
_MARKS = {CrawlStatus.COMPLETED: "green", CrawlStatus.FAILED: "red", CrawlStatus.CANCELLED: "yellow"}


def summary(crawl: CrawlJob) -> dict[str, Any]:
    """The summary for programs. Its field names are stable."""
    seconds = _seconds(crawl)
    row = crawl.model_dump(mode="json")
    return {
        "crawl_id": row["id"],
        "project_id": row["project_id"],
        **{name: row[name] for name in FIELDS},
        "duration_seconds": round(seconds, 3),
        "pages_per_second": round(crawl.pages_crawled / seconds, 2) if seconds else 0.0,
        "change_summary": crawl.change_summary,
    }


def _seconds(crawl: CrawlJob) -> float:
    started, ended = crawl.started_at, crawl.completed_at
    return (ended - started).total_seconds() if started and ended else 0.0


def summary_page(crawl: CrawlJob, baseline: CrawlJob | None, width: int, title: str | None = None) -> RenderableType:
    """The summary for people. The default title is the URL where the crawl began."""
    blocks: list[RenderableType] = [_headline(crawl, width, title), _table(crawl, width)]
    if crawl.change_summary is not None:
        blocks += [Text(), *_changes(crawl.change_summary, baseline, width)]
    told = warnings(crawl)
    if told:
        blocks += [Text(), _notes(told)]
    return Group(*blocks)


def _notes(sentences: list[str]) -> Table:
    table = Table.grid(padding=(0, 1))
    for sentence in sentences:
        table.add_row(Text("!", "bold yellow"), Text(sentence))
    return table


def _headline(crawl: CrawlJob, width: int, title: str | None) -> Text:
    status = str(crawl.status)
    what = fit_url(title or crawl.seed_url, max(20, width - len(status) - 2))
    parts = [(what, "bold"), (end_words(crawl), "dim")]
    return Text.assemble(
        (status, f"bold {_MARKS.get(crawl.status, '')}".strip()), *((f"  {w}", s) for w, s in parts if w)
    )


def end_words(crawl: CrawlJob) -> str:
    if crawl.end_reason is EndReason.EXHAUSTED and crawl.crawl_type is CrawlType.FETCH_ONLY:
        return "every URL of the list was asked for"
    if crawl.end_reason is EndReason.EXHAUSTED and coverage_sentence(crawl.change_summary):
        return ""  # that sentence stands below, and says how much was seen
    return _ENDS[crawl.end_reason] if crawl.end_reason else ""


def _table(crawl: CrawlJob, width: int) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    by_reason = crawl.stats.get("by_reason", {})
    seconds = crawl.working_seconds(crawl.completed_at) if crawl.completed_at else 0.0
    rate = f"{crawl.pages_crawled / seconds:.1f} a second" if seconds else ""
    table.add_row("pages crawled", f"{crawl.pages_crawled:,}", _pages(crawl))
    table.add_row("pages failed", f"{crawl.pages_failed:,}", reason_counts(by_reason, FAILED))
    table.add_row("pages skipped", f"{crawl.pages_skipped:,}", reason_counts(by_reason, SKIPPED))
    table.add_row("URLs found", f"{crawl.total_discovered:,}", "")
    table.add_row("time", duration(seconds), rate)
    table.add_row("crawl", "", str(crawl.id))
    if width >= 60:  # an id has 36 characters
        table.add_row("project", "", str(crawl.project_id))
    return table


def _pages(crawl: CrawlJob) -> str:
    told = []
    if crawl.stats.get("bytes"):
        told.append(size(crawl.stats["bytes"]))
    if unchanged := crawl.stats.get("by_reason", {}).get(Reason.UNCHANGED):
        # Unchanged since it was stored, not since the crawl before: that one may have missed the page.
        told.append(f"{unchanged:,} as stored before")
    if crawl.rendered:
        told.append(f"{crawl.rendered:,} in a browser")
    latency = crawl.stats.get("latency_ms") or {}
    if latency.get("p50") is not None:
        told.append(f"answers in {latency['p50']} ms, slow ones in {latency['p95']} ms")
    return ", ".join(told)


def reason_counts(by_reason: dict[str, int], group: Iterable[Reason]) -> str:
    told = sorted(
        ((n, name_of(reason)) for reason in group if (n := by_reason.get(reason, 0))), key=lambda t: (-t[0], t[1])
    )
    return ", ".join(f"{n:,} {name}" for n, name in told)


def _changes(change: dict[str, Any], baseline: CrawlJob | None, width: int) -> list[RenderableType]:
    counts = change["summary"]
    when = (
        f"{baseline.started_at.astimezone():%Y-%m-%d %H:%M}" if baseline and baseline.started_at else "the crawl before"
    )
    kinds = ("new", "changed", "removed", "unchanged")
    told = ", ".join(f"{counts[f'{kind}_pages']:,} {kind}" for kind in kinds)
    moved = change.get("moved", [])
    if moved:
        told += f", {len(moved):,} moved"
    lines: list[RenderableType] = [Text.assemble((f"Since {when}: ", "dim"), told)]
    if change.get("not_compared") and not coverage_sentence(change):
        why = missing_words(change.get("removal_counts", {}))
        lines.append(
            Text(f"{count(change['not_compared'], 'page')} could not be compared{f' ({why})' if why else ''}", "dim")
        )
    failed = [note for note in change.get("wall_notes", ()) if note["kind"] == PART]
    lines += [Text(told, "dim") for told in wall_sentences(failed)]
    for kind, mark, style in (("new", "+", "green"), ("changed", "~", "yellow"), ("removed", "-", "red")):
        urls = change[f"{kind}_page_urls"]
        for url in urls[:SHOWN_URLS]:
            lines.append(Text(f"  {mark} {fit_url(url, max(20, width - 4))}", style))
            lines += [
                Text(f"      also at {fit_url(other, max(20, width - 14))}", "dim")
                for other in change.get("also_at", {}).get(url, ())
            ]
        if len(urls) > SHOWN_URLS:
            lines.append(Text(f"  {mark} … and {len(urls) - SHOWN_URLS:,} more", style))
    room = max(20, width // 2 - 4)
    lines += [
        Text(f"  > {fit_url(move['from'], room)} → {fit_url(move['to'], room)}{_edited(move)}", "blue")
        for move in moved[:SHOWN_URLS]
    ]
    if len(moved) > SHOWN_URLS:
        lines.append(Text(f"  > … and {len(moved) - SHOWN_URLS:,} more", "blue"))
    return lines


def _edited(move: dict[str, Any]) -> str:
    return ", and changed" if move.get("edits") else ""


def warnings(crawl: CrawlJob) -> list[str]:
    """Warnings that limit what the numbers mean, each with the option that changes it."""
    reasons = {Reason(name): n for name, n in crawl.stats.get("by_reason", {}).items()}
    seen = coverage_sentence(crawl.change_summary)
    if seen:
        reasons.pop(Reason.HASH_ROUTE, None)  # it says so, too
    of_urls = (*_of_sitemaps(crawl), *_of_found(crawl), *_of_queries(crawl), *_of_the_rules(crawl, reasons))
    failed = f"It could not be compared: {crawl.comparison_failed}" if crawl.comparison_failed else None
    told = (failed, seen, *_of_the_end(crawl, reasons), *of_urls)
    return [sentence for sentence in told if sentence]


def _of_the_end(crawl: CrawlJob, reasons: dict[Reason, int]) -> Iterable[str | None]:
    left = reasons.get(Reason.MAX_PAGES, 0)
    if crawl.end_reason is EndReason.MAX_PAGES:
        yield (
            f"Stopped by --max-pages {crawl.config.max_pages}; {count(left, 'URL')} it had found "
            f"{'was' if left == 1 else 'were'} left. Raise it to fetch more."
        )
    late = reasons.get(Reason.HOST_BLOCKED, 0)
    if late:
        yield f"{count(late, 'URL')} waited in vain for a host that wants to be left alone; use a longer --delay."
    redirected = reasons.get(Reason.REDIRECTED, 0)
    if redirected and not crawl.pages_crawled:
        yield f"Nothing but redirects was found ({redirected:,}); crawl the URL they lead to."
    elif unseen := unseen_words(crawl):
        if crawl.stats.get("nofollow_links"):
            more = "; 'crawler project set PROJECT --setting follow_nofollow=true' follows them"
        else:
            more = "" if crawl.rendered else "; --render always uses a browser"
        yield f"{unseen}{more}."


def _of_sitemaps(crawl: CrawlJob) -> Iterable[str]:
    for damage in crawl.stats.get("damaged_sitemaps", ()):
        read = f"{count(damage['urls'], 'URL')} of it {'was' if damage['urls'] == 1 else 'were'} read"
        yield f"{damage['url']} could not be read whole: {damage['error']} {read}."


def _of_found(crawl: CrawlJob) -> Iterable[str]:
    if cut := cut_words(crawl):
        yield f"{cut}."
    if part := part_words(crawl):
        yield f"{part}."


def _of_queries(crawl: CrawlJob) -> Iterable[str]:
    if found := query_words(crawl):
        yield f"{found}; --query-params meaningful, keep or drop decides otherwise."
    if merged := merged_words(crawl):
        yield f"{merged}; --query-params keep tells apart those whose queries differ."


def _of_the_rules(crawl: CrawlJob, reasons: dict[Reason, int]) -> Iterable[str | None]:
    if refused := reasons.get(Reason.ROBOTS):
        yield f"robots.txt keeps us out of {count(refused, 'URL')}; --ignore-robots goes there anyway, if you may."
    if unread := reasons.get(Reason.ROBOTS_UNREACHABLE):
        yield f"{count(unread, 'URL')} could not be asked for: robots.txt did not answer; --ignore-robots does without."
    if forbidden := reasons.get(Reason.FORBIDDEN):
        yield f"{count(forbidden, 'URL')} answered 401 or 403; --header Authorization sends credentials along."
    if files := reasons.get(Reason.CONTENT_TYPE):
        yield (
            f"{count(files, 'URL')} {'is' if files == 1 else 'are'} no web page but another kind of file; "
            "'crawler project set PROJECT --setting content_types=text/html,application/pdf' keeps PDFs, say."
        )
    if closed := reasons.get(Reason.EGRESS):
        yield (
            f"{count(closed, 'URL')} {'was' if closed == 1 else 'were'} not asked for: only public addresses and the "
            "host and port typed as URL may be reached; host:port in CRAWLER_EGRESS_ALLOW opens others, with commas."
        )
    if limited := reasons.get(Reason.RATE_LIMITED):
        yield f"{count(limited, 'URL')} answered 429 or 503 again and again; crawl later, or with a longer --delay."
    yield from _of_browsers(reasons)
    done = crawl.pages_crawled + crawl.pages_failed
    if crawl.pages_failed and crawl.pages_failed / done > FAILED_SHARE:
        again = f"'crawler crawl retry-failed {short_id(crawl.id)}'"
        yield f"{count(crawl.pages_failed, 'URL')} of {done:,} failed; {again} tries them again."
    if reasons.get(Reason.NOT_INCLUDED) and crawl.pages_crawled <= 1:
        yield "--include matched nothing that the first page links to; --include-mode prefer crawls the others too."


def _of_browsers(reasons: dict[Reason, int]) -> Iterable[str]:
    if routes := reasons.get(Reason.HASH_ROUTE):
        yield (
            f"{count(routes, 'link')} {'leads' if routes == 1 else 'lead'} to hash routes (#/…), which are not crawled "
            "as pages of their own."
        )
    if plain := reasons.get(Reason.RENDER_UNAVAILABLE):
        yield (
            f"{count(plain, 'page')} may need a browser and {'was' if plain == 1 else 'were'} stored as fetched; "
            "'crawler doctor' says how to get one."
        )
    if blind := reasons.get(Reason.RENDER_FAILED):
        yield (
            f"{count(blind, 'page')} could not be rendered and {'was' if blind == 1 else 'were'} stored as fetched; "
            "'crawler explain' says why."
        )


def failure(crawl: CrawlJob, advice: str | None) -> str:
    """Why a crawl failed, and what to do about it."""
    told = fit(crawl.error_message or f"The crawl was {crawl.status}.", 10_000).rstrip(".")
    return f"{told}. {advice}" if advice else f"{told}."
