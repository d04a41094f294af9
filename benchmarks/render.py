"""Two passes: what a browser costs, that it is spared where it can be, and that it finds all of a single-page app."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from urllib.parse import urlsplit

from sqlalchemy import text

from benchmarks import render_laps, render_watch, single_page
from benchmarks.app_routes import Found, compare
from benchmarks.options import Options
from benchmarks.ours import Ours, ours
from benchmarks.render_laps import ALWAYS, AUTO, Lap, lap, ratios
from benchmarks.render_watch import Held, Look, RenderWatch, peak
from benchmarks.single_page import GARDEN, App, NotBuilt
from benchmarks.sites import Sites, manual, serve
from crawler.adapters.browser.fetcher import why_unavailable
from crawler.config import load_settings
from crawler.domain.crawls.crawl import CrawlJob

TITLE = "A browser only where it is needed"
ALL = 1_000_000
WARM_PAGES = 12
ALWAYS_PAGES = 60
RENDERS = 200
PLANTS = 190
"""With the other routes of that site a little more than so many renders."""
REST_SECONDS = 15
IDLE_SECONDS = 135
"""A browser nobody needs is closed after two minutes."""


def run(options: Options) -> str:
    lack = why_unavailable(load_settings().chromium)
    if lack:
        return f"Nothing was measured. {lack}"
    with ExitStack() as stack:
        apps, why_none = _apps(stack, options)
        mounts = [*(manual(site) for site in options.sites), *(app.mount for app in apps)]
        sites = stack.enter_context(serve(*mounts))
        crawler = stack.enter_context(ours(render=True))
        return Bench(options, crawler, sites).measure(apps, why_none)


def _apps(stack: ExitStack, options: Options) -> tuple[list[App], str]:
    """And a sentence if there are none."""
    try:
        return stack.enter_context(single_page.apps(options.size(PLANTS, 6))), ""
    except NotBuilt as exc:
        print(f"  {exc}", flush=True)
        return [], str(exc)


class Bench:
    """Everything in one run, with one worker that renders."""

    def __init__(self, options: Options, crawler: Ours, sites: Sites) -> None:
        self._options = options
        self._crawler = crawler
        self._sites = sites
        self._watch = RenderWatch(crawler)

    def measure(self, apps: Sequence[App], why_none: str) -> str:
        options, manuals = self._options, self._options.sites
        before = self._watch.look()
        for site in manuals:
            self._crawler.warm(self._sites.url(site), render="never")
        light = [self._lap(site, AUTO, options.size(ALL, 200)) for site in manuals]
        warming = self._lap(manuals[0], ALWAYS, options.size(WARM_PAGES, 4))
        heavy = [self._lap(site, ALWAYS, options.size(ALWAYS_PAGES, 8)) for site in manuals]
        baseline = self._after(options.size(REST_SECONDS, 3))
        found, many = self._render_many(apps)
        rested = self._after(options.size(REST_SECONDS, 3))
        idle = None if options.quick else self._after(IDLE_SECONDS)
        counts = [sum(one.rendered for one in some) for some in ((warming, *heavy), many)]
        held = Held(before, baseline, peak(self._watch.looks), rested, idle, *counts)
        return self._report([*light, *heavy, *(many if apps else ())], found, held, why_none)

    def _render_many(self, apps: Sequence[App]) -> tuple[dict[str, Found], list[Lap]]:
        """All routes of the apps; where there are none, as many pages of a manual."""
        if not apps:
            return {}, [self._lap(self._options.sites[0], ALWAYS, self._options.size(RENDERS, 12))]
        found, laps = {}, []
        for app in apps:
            done, crawl = lap(self._crawler, self._sites, app.name, AUTO, ALL, self._watch)
            laps.append(done)
            found[app.name] = compare(app.routes, stored_texts(self._crawler, crawl))
            print(f"  {app.name}: {found[app.name]}", flush=True)
        return found, laps

    def _lap(self, site: str, mode: str, max_pages: int) -> Lap:
        return lap(self._crawler, self._sites, site, mode, max_pages, self._watch if mode == ALWAYS else None)[0]

    def _after(self, seconds: float) -> Look:
        print(f"  at rest for {seconds:g} s", flush=True)
        self._crawler.attend(seconds)
        return self._watch.look()

    def _report(self, laps: Sequence[Lap], found: Mapping[str, Found], held: Held, why_none: str) -> str:
        browsers = self._crawler.tools.engine.render_counts.read()["restarts"]
        told = "\n".join(f"- {name}: {what}" for name, what in found.items())
        return f"""Debian's manuals, whose server sends their text, and two single-page apps: npm's docsify with its
history router, and a React site built by Vite, with react-router, a lazy chunk and pages whose data is fetched. `auto`
looks at what the server sends first; `always` renders everything and is stopped early. One worker renders, four pages
at once; all is warm. Pages per second are counted from the first page's request until the crawl had ended; CPU is that
of everybody who works for the crawl, Chromium included.

{render_laps.table(laps)}

{told or why_none}

What the render worker held. Until then {browsers} browsers had been replaced by fresh ones, as happens after 100 pages,
and {self._watch.replaced} workers.

{render_watch.table(held)}

{promises(laps, found, held)}"""


def stored_texts(crawler: Ours, crawl: CrawlJob) -> dict[str, str]:
    """By path."""
    query = "SELECT url, content_text FROM crawled_pages WHERE project_id = :project AND status = 'success'"
    with crawler.tools.database.connect() as db:
        rows = db.execute(text(query), {"project": crawl.project_id})
        return {urlsplit(row.url).path: row.content_text for row in rows}


def promises(laps: Sequence[Lap], found: Mapping[str, Found], held: Held) -> str:
    """Each beside what was seen."""
    light = [one for one in laps if one.mode == AUTO and one.site not in found]
    renders = sum(one.rendered for one in light)
    ratio = min((times for one, times in ratios(laps).items() if one in light), default=0.0)
    speed = min((one.speed for one in laps if one.mode == ALWAYS or one.site == GARDEN), default=0.0)
    whole = sum(what.is_exact for what in found.values())
    rows = [
        ("renders of sites whose server sends their text", "0", f"{renders}", renders == 0),
        ("two passes there, × always", "≥ 50", f"{ratio:,.0f}", ratio >= 50),
        *([("single-page apps found whole", f"{len(found)}", f"{whole}", whole == len(found))] if found else ()),
        ("rendered pages/s, the slowest of manuals and React site", "≥ 2", f"{speed:.1f}", speed >= 2),
        (f"after {held.renders} renders", "as before", "as before" if held.is_back else "more", held.is_back),
    ]
    lines = ["| | wanted | seen | |", "|---|--:|--:|---|"]
    lines += [f"| {what} | {want} | {seen} | {'reached' if met else 'short'} |" for what, want, seen, met in rows]
    return "\n".join(lines)
