"""`/crawls/{id}/changes`: changes a crawl found, why they were notified or not, and the diff of each changed page.

The comparison is made by `handlers/changes/diff_crawl.py`; why it was notified or not:
`handlers/notices/explain_notice.py`.
"""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from crawler.adapters.changes.compared_pages import KeptVersion
from crawler.bootstrap import App
from crawler.domain.api_keys import ApiKey
from crawler.domain.changes.left_out_places import left_out_sentence
from crawler.domain.changes.removals import COUNTED
from crawler.domain.changes.summary import Compared, CrawlChanges
from crawler.domain.crawls.crawl import CrawlJob, CrawlType
from crawler.domain.urls.keys import keys_of
from crawler.entrypoints.dashboard.pages.page_diff import View, shown_diff
from crawler.entrypoints.dashboard.serving.render import go, is_part, page
from crawler.entrypoints.dashboard.views.channel_warnings import channel_warnings
from crawler.entrypoints.dashboard.views.notice import notice_of
from crawler.entrypoints.http.access import OwnCrawl, Tools, WholeCrawl
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.shapes import Text
from crawler.handlers.changes.diff_without_noise import TOO_LARGE, FilteredDiff

router = APIRouter()

FIRST = 10
SHOWN = 50
BRIEF_LINES = 4
NAMES = {
    "changed": "Changed",
    "template": "Site-wide changes",
    "new": "New",
    "removed": "Removed",
    "moved": "Moved",
    "missing": "Not found again",
    "quiet": "Ignored changes",
    "walls": "Walls",
    "not_compared": "Not compared",
}
Url = Annotated[Text, Query(max_length=8000)]
After = Annotated[int, Query(ge=0, le=10_000_000)]


class Entry(NamedTuple):
    """One URL in a group of changes, with a note about it."""

    url: str
    note: Any = None


@router.get("/crawls/{crawl_id}/changes")
def changes(
    request: Request,
    crawl: WholeCrawl,
    caller: Caller,
    tools: Tools,
    group: Annotated[str, Query(max_length=20)] = "",
    after: After = 0,
) -> Response:
    found = tools.changes.describe(crawl)
    groups = _groups(found)
    group = group if group in groups else ""
    many = SHOWN if group else FIRST
    chosen = [group] if group else list(groups)
    parts = {name: _entries(name, groups[name][after : after + many], found) for name in chosen}
    return page(
        request,
        "parts/change_rows.html" if is_part(request) and group else "crawl_changes.html",
        here="changes",
        crawl=crawl,
        project=tools.store.get_project(crawl.project_id),
        changes=found,
        names=NAMES,
        counts=_counts(found, groups),
        parts=parts,
        group=group,
        following=after + many if group and len(groups[group]) > after + many else None,
        before=tools.store.find_crawl(found.compared_to) if found.compared_to and not is_part(request) else None,
        **notice_of(tools, crawl),
        warnings=_warnings(tools, crawl),
        significance=_significance(crawl, found),
        left_out=left_out_sentence(one.model_dump() for one in found.left_out_places),
        pages=_known(tools, crawl, parts),
        keys=keys_of(crawl.config),
        rules=_rule_words(tools, crawl) if parts.get("quiet") else {},
        **_in_feed(tools, crawl, caller),
    )


def _in_feed(tools: App, crawl: CrawlJob, caller: ApiKey) -> dict[str, Any]:
    """The crawl's entry in the feed of changes, and those beside it."""
    entry = tools.changes.feed.find(crawl.id)
    return {"entry": entry, "beside": tools.changes.feed.neighbours(entry, caller.project_ids) if entry else None}


@router.get("/crawls/{crawl_id}/changes/lines")
def lines(request: Request, crawl: WholeCrawl, tools: Tools, after: After = 0) -> Response:
    """The next changed pages with the first lines that changed on each: asked for when the list is seen."""
    found = tools.changes.describe(crawl)
    urls = found.changed_page_urls
    told = [(url, _judged(tools, crawl, url)) for url in urls[after : after + FIRST]]
    return page(
        request,
        "parts/changed_pages.html" if is_part(request) else "crawl_changed_lines.html",
        here="changes",
        crawl=crawl,
        project=tools.store.get_project(crawl.project_id),
        told=told,
        brief=BRIEF_LINES,
        following=after + FIRST if len(urls) > after + FIRST else None,
    )


@router.get("/crawls/{crawl_id}/changes/page")
def one_page(
    request: Request,
    crawl: WholeCrawl,
    tools: Tools,
    url: Url = "",
    view: View = "side",
    whole: Annotated[bool, Query()] = False,
) -> Response:
    compared = compared_versions(tools, crawl, url) if url else None
    context: dict[str, Any] = {"diff": None}
    if compared:
        page_id, versions = compared
        template = (crawl.change_summary or {}).get("template_changes", ())
        context = shown_diff(
            tools, crawl.project_id, page_id, versions, view=view, whole=whole, template=template,
            path=f"/crawls/{crawl.id}/changes/page", given={"url": url},
        )  # fmt: skip
    return page(
        request,
        "parts/whole_diff.html" if is_part(request) and compared and whole else "crawl_changed_page.html",
        here="changes",
        crawl=crawl,
        project=tools.store.get_project(crawl.project_id),
        url=url,
        **context,
    )


@router.post("/crawls/{crawl_id}/changes/accept")
def accept(crawl: OwnCrawl, tools: Tools) -> Response:
    tools.changes.feed.accept(crawl.id, tools.clock())
    tools.projects.manage.change(crawl.project_id, {"flagged_for_review": False})
    return go(f"/crawls/{crawl.id}/changes", "accepted")


def _groups(found: CrawlChanges) -> dict[str, Sequence[Any]]:
    """The rows of each group of changes. Lists may be long, so only the shown rows become entries later."""
    walled = {one.url for one in found.walls}
    return {
        "changed": found.changed_page_urls,
        "template": found.template_changes,
        "new": found.new_page_urls,
        "removed": found.removed_page_urls,
        "moved": found.moved,
        "missing": [one for one in found.removals if one.kind not in COUNTED],
        "quiet": found.quiet_page_urls,
        "walls": found.walls,
        "not_compared": [url for url in found.not_compared_urls if url not in walled]
        if walled
        else found.not_compared_urls,
    }


def _entries(name: str, rows: Sequence[Any], found: CrawlChanges) -> Sequence[Any]:
    """The entries of a group. Removed pages come with what is known about them."""
    if name == "template":
        return rows
    if name == "removed":
        lost = {missing.url: missing for missing in found.removals}
        return [Entry(url, lost.get(url)) for url in rows]
    if name == "moved":
        return [Entry(move.source, move) for move in rows]
    return [Entry(one) if isinstance(one, str) else Entry(one.url, one) for one in rows]


def _counts(found: CrawlChanges, groups: dict[str, Sequence[Any]]) -> dict[str, int]:
    """The number of pages in each group. Lists may be shortened, so the stored counts are used where there are any."""
    missing = sum(number for kind, number in found.removal_counts.items() if kind not in COUNTED)
    named = {"quiet": found.quiet_pages, "missing": missing, "moved": found.moved_pages}
    return {name: max(len(rows), named.get(name, 0)) for name, rows in groups.items()}


class Measure(NamedTuple):
    words: str
    value: float
    limit: float
    said: str

    @property
    def reached(self) -> bool:
        return self.value >= self.limit


def _significance(crawl: CrawlJob, found: CrawlChanges) -> list[Measure]:
    """How near the changes are to the project's thresholds for significant changes."""
    if found.state is not Compared.YES or found.summary is None:
        return []
    counts, config = found.summary, crawl.config
    arrived = counts.new_pages + found.moved_pages
    compared = counts.changed_pages + counts.unchanged_pages
    expected = max(compared, found.coverage.expected if found.coverage else 0)
    edited = min(counts.changed_pages + found.template_pages, compared)
    share = edited / expected if expected else 0.0
    only = f", of these {found.template_pages:,} only by a site-wide edit" if found.template_pages else ""
    many, least = config.significant_new_pages, config.significant_changed_share
    return [
        Measure("New pages", arrived, many, f"{arrived:,} (significant from {many:,})"),
        Measure(f"Changed pages{only}", share, least, f"{_percent(share)} (significant from {_percent(least)})"),
    ]


def _warnings(tools: App, crawl: CrawlJob) -> Sequence[str]:
    """Warnings about channels that keep the next notifications from being sent."""
    schedule = tools.notices.schedules.find(crawl.project_id) if crawl.crawl_type is CrawlType.SCHEDULED else None
    if schedule is None or not schedule.config.enabled:
        return ()
    return channel_warnings(tools, schedule.config, schedule.webhook_gone_at)


def _percent(share: float) -> str:
    return f"{share * 100:.3g} %"


def _known(tools: App, crawl: CrawlJob, parts: dict[str, Sequence[Any]]) -> dict[str, UUID]:
    """Page ids of the shown URLs, for those that the project has stored."""
    key_of = keys_of(crawl.config)
    urls = [entry.url for name, rows in parts.items() if name != "template" for entry in rows]
    urls += [entry.note.to for entry in parts.get("moved", ())]
    keys = {key for url in urls if (key := key_of(url))}
    return tools.pages.neighbours.known(crawl.project_id, sorted(keys)) if keys else {}


def _rule_words(tools: App, crawl: CrawlJob) -> dict[str, str]:
    return {str(rule.id): rule.words for rule in tools.changes.noise_rules.list_rules(crawl.project_id)}


def compared_versions(tools: App, crawl: CrawlJob, url: str) -> tuple[UUID, tuple[KeptVersion, KeptVersion]] | None:
    """The two versions that the crawl compared. None if this URL was not compared, or a version is gone."""
    summary, key = crawl.change_summary, keys_of(crawl.config)(url)
    if summary is None or key is None:
        return None
    further = summary.get("further_back", {}).get(url, 0)
    found = tools.changes.compared_pages.between(crawl.id, UUID(str(summary["compared_to"])), key, further)
    if found is None:
        return None
    older, newer = tools.changes.compared_pages.versions(crawl.project_id, found.page_id, [found.older, found.newer])
    return found.page_id, (older, newer)


def _judged(tools: App, crawl: CrawlJob, url: str) -> Any:
    if any(page["url"] == url for page in (crawl.change_summary or {}).get("by_hash", ())):
        return FilteredDiff(note=TOO_LARGE)
    compared = compared_versions(tools, crawl, url)
    if compared is None:
        return None
    template = (crawl.change_summary or {}).get("template_changes", ())
    return tools.changes.diff_without_noise(crawl.project_id, *compared, template)
