"""Two real wikis, watched for days of a moved clock: is every edit told once, and nothing else?"""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.options import Options
from benchmarks.wikis import php
from benchmarks.wikis.clock import MovedClock
from benchmarks.wikis.content import harbour
from benchmarks.wikis.dokuwiki import dokuwiki
from benchmarks.wikis.judging import Judge, Truth, Verdict, read_told
from benchmarks.wikis.mediawiki import mediawiki
from benchmarks.wikis.story import Step, between, story
from benchmarks.wikis.watcher import Watcher, watcher
from benchmarks.wikis.wiki import Wiki
from crawler.telemetry import configure_logs

TITLE = "Two wikis, watched"
MOST_NAMED = 5
POPULATED_BEFORE = timedelta(days=10)
"""Young pages forbid to follow their links in one of them."""
WIKIS: dict[str, Callable[[Path, MovedClock], AbstractContextManager[Wiki]]] = {
    "dokuwiki": dokuwiki, "mediawiki": mediawiki,
}  # fmt: skip


@dataclass
class Watch:
    """A project, and how each of its crawls was judged."""

    wiki: str
    options: str
    pages: int = 0
    """Of the first crawl."""
    found: int = 0
    """Of the wiki's own pages."""
    missed: tuple[str, ...] = ()
    """Not told by any crawl so far."""
    verdicts: list[tuple[Step, Verdict]] = field(default_factory=list)


def run(options: Options) -> str:
    configure_logs("warning")
    if lacking := php.missing():
        return f"Not measured: `apt-get install --no-install-recommends {' '.join(lacking)}` comes first."
    steps = story()[: options.size(100, 3)]
    watches = [watch for name in WIKIS for watch in _watch(name, steps)]
    return table(watches)


def _watch(name: str, steps: Sequence[Step]) -> list[Watch]:
    """One wiki, and a project for each way to set its options; all of them see the same."""
    library = php.faketime()
    assert library is not None
    with tempfile.TemporaryDirectory(prefix="bench-wiki-") as folder:
        clock = MovedClock(Path(folder), library)
        with WIKIS[name](Path(folder) / name, clock) as wiki, watcher(clock) as crawler:
            wiki.populate()
            clock.move(POPULATED_BEFORE, [wiki.home])
            watched = [Watched(crawler, wiki, "defaults"), Watched(crawler, wiki, "by hand", **wiki.options)]
            for step in steps:
                clock.move(between(step), [wiki.home])
                truth = step.passing
                if step.act is not None:
                    wiki.sign_in()
                    done = step.act(wiki)
                    if done is None:
                        continue
                    truth = done
                    wiki.settle()
                    clock.move(between(step) / 2, [wiki.home])
                for one in watched:
                    one.look(step, truth)
            return [one.watch for one in watched]


class Watched:
    """One project of a wiki."""

    def __init__(self, crawler: Watcher, wiki: Wiki, label: str, **options: Any) -> None:
        self._crawler = crawler
        self._wiki = wiki
        self._project = crawler.project(wiki.url, **options)
        first = crawler.crawl(self._project.id)
        self._judge = Judge(first.pages_crawled)
        names = {wiki.name_of(url) for url in crawler.stored(self._project.id)}
        self.watch = Watch(wiki.software, label, first.pages_crawled, len(names & {*harbour()}))
        own = f"{self.watch.found} of its {len(harbour())}"
        print(f"  {wiki.software}, {label}: {first.pages_crawled} pages, {own}", flush=True)

    def look(self, step: Step, truth: Truth) -> None:
        crawl = self._crawler.crawl(self._project.id)
        assert crawl.change_summary is not None
        told = read_told(crawl.change_summary, self._wiki.name_of)
        verdict = self._judge(truth, told, crawl.pages_crawled)
        self.watch.verdicts.append((step, verdict))
        self.watch.missed = self._judge.owed
        print(f"  {self.watch.wiki}, {self.watch.options}: {step.what}: {_said(verdict)}", flush=True)


def _said(verdict: Verdict) -> str:
    wrong = {"untold": verdict.untold, "late": verdict.late, "twice": verdict.twice, "false": verdict.false_alarms}
    parts = [f"{what}: {_first(names)}" for what, names in wrong.items() if names]
    parts += ["a silent fall"] * verdict.is_silent_fall
    return f"{verdict.compared} compared, {verdict.echoes} echoes; {'; '.join(parts) or 'right'}"


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def table(watches: Sequence[Watch]) -> str:
    columns = (
        "pages at first", "its own pages", "edits", "missed", "told late", "told twice", "re-crawls after the second",
        "false alarms", "silent falls",
    )  # fmt: skip
    lines = [f"| wiki | options | {' | '.join(columns)} |", f"|---|---|{'--:|' * len(columns)}"]
    for watch in watches:
        verdicts = [verdict for _step, verdict in watch.verdicts]
        cells = (
            watch.wiki, watch.options, watch.pages, f"{watch.found} of {len(harbour())}",
            sum(v.edits for v in verdicts), len(watch.missed), sum(len(v.late) for v in verdicts),
            sum(len(v.twice) for v in verdicts), len(verdicts) - 1, sum(len(v.false_alarms) for v in verdicts[1:]),
            sum(v.is_silent_fall for v in verdicts),
        )  # fmt: skip
        lines.append(f"| {' | '.join(map(str, cells))} |")
    wrong = [
        f"- {watch.wiki}, {watch.options}, {step.what}: {_said(verdict)}"
        for watch in watches
        for step, verdict in watch.verdicts
        if not verdict.is_right
    ]
    return "\n".join([*lines, "", *wrong]).strip()
