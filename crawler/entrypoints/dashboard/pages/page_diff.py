"""The diff of two page versions: side by side or line by line, without noise or whole, and screenshots.

Screenshots are laid over each other in the browser: `templates/parts/picture_diff.html` and `static/compare.js`.

What changed is decided in `handlers/changes/diff_without_noise.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from crawler.adapters.changes.compared_pages import KeptVersion
from crawler.bootstrap import App
from crawler.entrypoints.dashboard.serving.render import is_part, page
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.errors import Invalid, NotFound

router = APIRouter()

View = Annotated[str, Query(max_length=10)]


@router.get("/projects/{project_id}/pages/{page_id}/diff")
def diff(
    request: Request,
    project_id: OwnProject,
    page_id: UUID,
    tools: Tools,
    older: Annotated[UUID | None, Query(alias="from")] = None,
    newer: Annotated[UUID | None, Query(alias="to")] = None,
    view: View = "side",
    whole: Annotated[bool, Query()] = False,
) -> Response:
    """The newest two when none are named."""
    found = tools.pages.reader.get_page(project_id, page_id)
    versions = _chosen(tools, project_id, page_id, older, newer)
    context: dict[str, Any] = {"diff": None}
    if versions:
        context = shown_diff(
            tools, project_id, page_id, versions, view=view, whole=whole,
            path=f"/projects/{project_id}/pages/{page_id}/diff",
            given={"from": versions[0].id, "to": versions[1].id},
        )  # fmt: skip
    return page(
        request,
        "parts/whole_diff.html" if is_part(request) and versions and whole else "page_diff.html",
        here="versions",
        project=tools.store.get_project(project_id),
        found=found,
        **context,
    )


def _chosen(
    tools: App, project_id: UUID, page_id: UUID, older: UUID | None, newer: UUID | None
) -> tuple[KeptVersion, KeptVersion] | None:
    if older is None or newer is None:
        newest = [row.id for row in tools.pages.content.list_versions(project_id, page_id, None, 2)]
        if len(newest) < 2:
            return None
        newer, older = newest
    first, second = tools.changes.compared_pages.versions(project_id, page_id, [older, newer])
    return (first, second) if first.fetched_at <= second.fetched_at else (second, first)


def shown_diff(
    tools: App,
    project_id: UUID,
    page_id: UUID,
    versions: tuple[KeptVersion, KeptVersion],
    *,
    view: str,
    whole: bool,
    path: str,
    given: Mapping[str, object],
    template: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The values for `parts/page_diff.html`.

    `path` and `given` are the page's own URL, for links to its other views.
    """
    text, why_not = None, None
    if whole:
        try:
            text = tools.changes.diff_without_noise.whole(project_id, page_id, versions)
        except NotFound:
            why_not = "One of the two versions is no longer kept."
        except Invalid as exc:
            why_not = exc.message
    rules = {str(rule.id): rule.words for rule in tools.changes.noise_rules.list_rules(project_id)}
    return {
        "diff": tools.changes.diff_without_noise(project_id, page_id, versions, template),
        "versions": versions,
        "page_id": page_id,
        "view": "inline" if view == "inline" else "side",
        "whole": text,
        "why_not": why_not,
        "rules": rules,
        "path": path,
        "given": given,
        "pictured": all(version.picture for version in versions),
    }
