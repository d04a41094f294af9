"""`crawler explain`: why a URL was crawled, skipped or failed in a crawl.

Decided in `handlers/crawls/explain_url.py`; the sentences are in `domain/explaining/url_explanation.py`.
"""

from collections.abc import Iterator
from typing import Annotated

import typer

from crawler.entrypoints.cli.backend.naming import open_crawl
from crawler.entrypoints.cli.input.names import LATEST, CrawlName
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import Invalid
from crawler.lazy_module import on_first_use

with on_first_use():
    from rich.table import Table

    from crawler.domain.engine.ledger import Source
    from crawler.domain.explaining.url_explanation import PRIORITY_WORDS, SOURCE_WORDS, Attempt, Explanation
    from crawler.domain.urls.typed_url import typed_page
    from crawler.entrypoints.cli.screen.next_step import command_line
    from crawler.entrypoints.cli.screen.stderr import Stderr
    from crawler.entrypoints.cli.screen.terminal import clean, console, moment
    from crawler.entrypoints.cli.screen.terminal_text import count, duration


def explain(
    named: CrawlName,
    url: Annotated[
        str, typer.Argument(metavar="URL", show_default=False, help="As typed elsewhere, or a path such as /prices.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Who linked a URL, which rule admitted or refused it, what it waited for, each attempt, and the result."""
    if not url:
        is_url = bool({".", "/"} & set(named))
        example = command_line("explain", *((LATEST, named) if is_url else (named, "/prices")))
        raise Invalid(f"{'A project or crawl' if is_url else 'The URL'} is missing; write '{example}', say.")
    with open_crawl(named) as (backend, crawl_id), Stderr().status("Looking through the crawl's pages …"):
        found = backend.explain(crawl_id, typed_page(url, backend.get_crawl(crawl_id).seed_url))
    if as_json:
        echo(found.model_dump_json(indent=2))
        return
    screen = console()
    screen.print(clean(found.url), style="bold", soft_wrap=True)
    screen.print(clean(found.verdict))
    screen.print(_table(found))


def _table(found: Explanation) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    said = ""
    for name, words in _lines(found):
        table.add_row("" if name == said else name, clean(words))
        said = name
    return table


def _lines(found: Explanation) -> Iterator[tuple[str, str]]:
    if found.meaning:
        yield "means", found.meaning
    if found.error_message:
        yield "error", found.error_message
    yield from _origin(found)
    yield from _rules(found)
    yield from _waiting(found)
    for attempt in found.attempts:
        yield "attempt", _attempt(attempt)
    if found.attempt_count > len(found.attempts):
        yield "attempt", f"{found.attempt_count - len(found.attempts)} more that the log of requests does not have"
    if found.probe:
        when = f"{moment(found.probe.at)}  " if found.probe.at else ""
        yield "probe", f"{when}{found.probe.words}"
    yield from _result(found)


def _origin(found: Explanation) -> Iterator[tuple[str, str]]:
    if found.source:
        whence = SOURCE_WORDS[found.source] + (f" {found.parent}" if found.parent else "")
        yield "found", f"{moment(found.found_at)}  {whence}"
    for mention in found.mentions:
        how = mention.how.name.lower() if mention.how is not Source.LINK else "" if mention.followed else "nofollow"
        yield "also linked by", f"{mention.page} ({how})" if how else mention.page
    if found.mention_count > len(found.mentions):
        yield "also linked by", f"… and {count(found.mention_count - len(found.mentions), 'more page')}"
    if found.variant_count:
        yield "merged with", count(found.variant_count, "other spelling of it that pages use", "other spellings of it")
    for spelling in found.variants:
        yield "merged with", spelling


def _rules(found: Explanation) -> Iterator[tuple[str, str]]:
    if found.depth is not None and found.priority is not None:
        yield "depth", f"{count(found.depth, 'link')} from the seed"
        yield "priority", f"{found.priority}: {PRIORITY_WORDS.get(found.priority, '')}"
    if found.ruling.admitted_by:
        yield "admitted by" if found.known else "would admit", found.ruling.admitted_by
    if found.ruling.refused_by:
        yield "refused by" if found.known else "would refuse", found.ruling.refused_by


def _waiting(found: Explanation) -> Iterator[tuple[str, str]]:
    if found.waited:
        waited = found.waited
        yield "waited", f"{duration(waited.seconds)} between its discovery and its first request"
        others = f", {waited.requests_of_other_crawls} of other crawls" if waited.requests_of_other_crawls else ""
        yield "waited", f"{count(waited.requests_before, 'request')} went to its host first{others}"
        yield "waited", f"{duration(waited.gap_seconds)} between requests there ({waited.gap_because})"
        if waited.complaints:
            yield "waited", f"{count(waited.complaints, 'answer')} asked to leave the host alone (429 or 503)"
    if found.waits:
        due = f", {duration(found.waits.seconds)} from now" if found.waits.seconds else ""
        yield "waits now", f"{found.waits.words}{due}"
        if found.waits.before:
            yield "waits now", f"{count(found.waits.before, 'URL')} of this crawl stand before it at this host"


def _attempt(attempt: Attempt) -> str:
    answer = str(attempt.status) if attempt.status else "no answer"
    took = f"{attempt.elapsed_ms} ms" if attempt.elapsed_ms is not None else ""
    parts = (f"{attempt.at:%Y-%m-%d %H:%M:%S.%f}"[:-3], attempt.lane, answer, took, attempt.meaning)
    return "  ".join(part for part in parts if part)


def _result(found: Explanation) -> Iterator[tuple[str, str]]:
    if found.state:
        status = f", answer {found.http_status}" if found.http_status else ""
        reason = f" ({found.reason})" if found.reason else ""
        yield "result", f"{found.state}{reason}{status}"
    if found.rendering:
        yield "fetched", found.rendering
    if found.final_url:
        yield "leads to", found.final_url
    if found.stored is None:
        return
    page = found.stored
    if page.title:
        yield "title", page.title
    if page.byte_length is not None:
        yield "bytes", f"{page.byte_length:,}"
    yield "page", str(page.page_id)
    yield "version", f"{page.version_id}, of {moment(page.last_changed_at) or 'a time that is no longer kept'}"
    yield "content hash", page.content_hash or ""
