"""`/act/{token}`: where links in mails lead: mute a project, or ignore a block. Each asks before it does anything.

The token says what is asked and was made by us (`Sender` in `domain/notices/mail.py`); it works without a session,
for two weeks.
"""

from contextlib import suppress
from datetime import timedelta
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response

from crawler.bootstrap import App
from crawler.domain.changes.page_digest import LONGEST_LINE, LineChange
from crawler.domain.crawls.project import Project
from crawler.domain.diffs.rows import Row
from crawler.domain.diffs.shown_lines import shown
from crawler.domain.noise.rules import PAGED, on_page
from crawler.domain.noise.suggestions import Suggestion
from crawler.domain.notices.mail import line_mark
from crawler.entrypoints.dashboard.forms.fields import Sent
from crawler.entrypoints.dashboard.pages.crawl_changes import compared_versions
from crawler.entrypoints.dashboard.serving.render import page
from crawler.entrypoints.dashboard.views.rule_reach import Reach, reach_of
from crawler.entrypoints.http.access import Tools
from crawler.errors import CrawlerError, NotFound

router = APIRouter()

Token = Annotated[str, Path(max_length=4000)]
_SPENT = "This link is not whole, or older than two weeks."
_DELETED = "What this link is about was deleted: its project or its crawl is no longer there."


class Asked(NamedTuple):
    """What a link asks for."""

    project: Project
    days: int = 0
    url: str = ""
    row: Row | None = None
    rule: Suggestion | None = None
    lines: int = 0
    """How many lines of the page the rule leaves out."""
    reach: Reach | None = None
    """On which other pages the block stands."""
    ignored: UUID | None = None
    """The rule that is to be removed again."""
    change: str = ""
    """Where the change is shown."""
    pages: int = 0
    """Of the crawl."""

    @property
    def is_paged(self) -> bool:
        """Whether the rule can hold for this page alone."""
        return self.rule is not None and self.rule.kind in PAGED


@router.get("/act/{token}")
def ask(request: Request, token: Token, tools: Tools) -> Response:
    asked = _asked(tools, token)
    if asked.rule is not None:
        reach = reach_of(tools, asked.project.id, asked.rule.kind, asked.rule.value, asked.url)
        asked = asked._replace(reach=reach)
    return page(request, "signed_link.html", asked=asked, done=False, undo="")


@router.post("/act/{token}")
def act(request: Request, token: Token, tools: Tools, form: Sent) -> Response:
    """Where it is not said that a rule holds on every page, it holds on the page that the mail was about.

    A rule that can only hold everywhere is not added unless that is said.
    """
    asked = _asked(tools, token)
    if asked.rule is not None and asked.rule.is_wide and form.text("where") != "everywhere":
        return page(request, "signed_link.html", asked=asked, done=False, undo="")
    undo = ""
    if asked.ignored:
        with suppress(NotFound):  # it was removed already
            tools.changes.manage_noise.remove(asked.project.id, asked.ignored)
    elif asked.days:
        until = tools.clock() + timedelta(days=asked.days)
        tools.projects.manage.change(asked.project.id, {"muted_until": until})
    elif asked.rule is not None:
        value = asked.rule.value if asked.is_paged else ""
        is_own = asked.is_paged and form.text("where") != "everywhere"
        added = tools.changes.manage_noise.add(
            asked.project.id, asked.rule.kind, on_page(value, asked.url) if is_own else value
        )
        undo = tools.notices.sign({"do": "unignore", "project": str(asked.project.id), "rule": str(added.id)})
    return page(request, "signed_link.html", asked=asked, done=True, undo=undo)


def _asked(tools: App, token: str) -> Asked:
    said = tools.notices.read_token(token)
    try:
        if said and said["do"] == "mute":
            return Asked(tools.store.get_project(UUID(said["project"])), days=1 if said["days"] == 1 else 7)
        if said and said["do"] == "ignore":
            return _ignored(tools, said)
        if said and said["do"] == "unignore":
            project = tools.store.get_project(UUID(said["project"]))
            return Asked(project, ignored=UUID(said["rule"]))
    except NotFound as exc:
        raise NotFound(_DELETED) from exc
    except (KeyError, TypeError, ValueError, CrawlerError) as exc:
        raise NotFound(_SPENT) from exc
    raise NotFound(_SPENT)


def _ignored(tools: App, said: dict[str, Any]) -> Asked:
    """The block and the narrowest rule that leaves it out; neither, if it is left out already."""
    crawl = tools.store.get_crawl(UUID(said["crawl"]))
    shown = f"/crawls/{crawl.id}/changes/page?{urlencode({'url': said['url']})}"
    asked = Asked(tools.store.get_project(crawl.project_id), url=said["url"], change=shown, pages=crawl.pages_crawled)
    compared = compared_versions(tools, crawl, said["url"])
    if compared is None:
        return asked
    found = tools.changes.diff_without_noise(crawl.project_id, *compared)
    number = next((line.number for line in found.lines if _mark(line.row) == said["line"]), None)
    if number is None:
        return asked
    row, suggested = tools.changes.diff_without_noise.suggest_rules(crawl.project_id, *compared, number)
    if not suggested:
        return asked._replace(row=row)
    return asked._replace(row=row, rule=suggested[0].suggestion, lines=suggested[0].lines)


def _mark(row: Row) -> str:
    """As the mail marked the line: shortened as it was shown there."""
    removed, added = shown(row.removed or "", row.added or "", LONGEST_LINE)
    return line_mark(LineChange(removed if row.removed is not None else None, added if row.added is not None else None))
