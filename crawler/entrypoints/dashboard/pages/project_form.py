"""`/projects/new`, `/projects/{id}/edit`: create and edit a project, with a preview of its URL rules while typing.

Decided in `manage_projects.py` and `preview_settings.py` in `handlers/crawls`; the fields are in
`entrypoints/dashboard/forms/crawl_options.py`, limits in `domain/crawls/crawl.py`.
"""

from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response

from crawler.bootstrap import App
from crawler.domain.crawls.crawl import SMALL_SITE, CrawlConfig, CrawlType
from crawler.domain.crawls.project import Project, checked_tags
from crawler.domain.notices.presets import PRESETS
from crawler.domain.notices.schedule import Frequency, NotifyOn, Schedule
from crawler.domain.urls.url import parse
from crawler.entrypoints.dashboard.forms.channels import channels_of, placed
from crawler.entrypoints.dashboard.forms.crawl_options import fields_of, settings_of
from crawler.entrypoints.dashboard.forms.fields import Form, Sent
from crawler.entrypoints.dashboard.serving.render import go, page, query
from crawler.entrypoints.dashboard.serving.words import split_url
from crawler.entrypoints.dashboard.views.ask_watch import ask_about
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.auth import Caller
from crawler.entrypoints.http.shapes import Text
from crawler.errors import Conflict, Forbidden, Invalid

router = APIRouter()

_FREQUENCIES = ("hourly", "daily", "weekly")
LOOKED_AT = 10
"""The number of newest crawls in which the last complete one is looked for."""


@router.get("/projects/new")
def new(request: Request, tools: Tools, url: Annotated[Text, Query(max_length=2000)] = "") -> Response:
    """`url` fills the field: for bookmarks and other programs."""
    return _show(request, tools, None, {"name": "", "website_url": url, **fields_of(CrawlConfig())}, {})


@router.post("/projects")
def create(request: Request, caller: Caller, tools: Tools, form: Sent) -> Response:
    if caller.project_ids is not None:
        raise Forbidden("This API key is limited to its projects; it cannot make others.")
    settings, errors = settings_of(form)
    tags, wrong_tags = _tags(form)
    channels, wrong_channels = channels_of(form)
    errors |= wrong_tags | wrong_channels
    if not form.text("website_url"):
        errors["website_url"] = "Type the address of the site, for instance https://example.org/."
    is_crawled = form.text("do") == "crawl"
    if is_crawled and not errors:
        tools.hints.ping()  # Without a broker no worker gets the message: fail before anything is written.
    made = None
    if not errors:
        try:
            made = _made(tools, form, settings, tags)
            _schedule(tools, made.id, form, channels)
        except (Invalid, Conflict) as exc:
            errors = _placed(exc) if made is None else placed(exc.message)
            if made is not None:
                tools.projects.manage.delete(made.id)
    if errors or made is None:
        return _show(request, tools, None, form.raw(), errors, 422)
    if not is_crawled:
        return go(f"/projects/{made.id}", "created")
    return go(f"/crawls/{tools.crawls.start(made.id).id}", "started")


def _schedule(tools: App, project_id: UUID, form: Form, channels: dict[str, Any], kept: Schedule | None = None) -> None:
    """How often and whom to tell. What was set before and is not given stays."""
    frequency = form.text("frequency")
    if kept and "notification_urls" in channels:
        channels["notification_urls"] = (*kept.config.notification_urls, *channels["notification_urls"])
    # Who asks to be told waits for every change, not only for those of many pages.
    first = {} if kept else {"notify_on": NotifyOn.ANY.value}
    if frequency in _FREQUENCIES:
        tools.notices.watch_url.again(project_id, form.text("zone"), Frequency(frequency), **first, **channels)
    elif channels:
        daily = {} if kept else {"frequency": Frequency.DAILY.value}
        tools.notices.set_schedule(project_id, {**daily, **first, **channels})


def _made(tools: App, form: Form, settings: Mapping[str, Any], tags: tuple[str, ...]) -> Project:
    url = tools.notices.watch_url.address(form.text("website_url"))
    tools.crawls.check_known(parse(url))
    made = tools.projects.manage.create(name=form.text("name") or _name_of(url), website_url=url, settings=settings)
    return tools.projects.manage.change(made.id, {"tags": tags}) if tags else made


def _tags(form: Form) -> tuple[tuple[str, ...], dict[str, str]]:
    try:
        return checked_tags(form.text("tags").split(",")), {}
    except ValueError as exc:
        return (), {"tags": f"{str(exc)[:1].upper()}{str(exc)[1:]}."}


@router.post("/projects/{project_id}/watch")
def watch(request: Request, project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    """The answer to “Check it daily? Who should be told?” after a crawl. What was set before stays."""
    channels, errors = channels_of(form)
    if not errors:
        try:
            _schedule(tools, project_id, form, channels, tools.notices.schedules.find(project_id))
        except Invalid as exc:
            errors = placed(exc.message)
        else:
            return go(f"/projects/{project_id}/schedule", "watched" if channels else "watched-alone")
    context = ask_about(tools, tools.store.get_project(project_id), form.raw(), errors)
    return page(request, "ask_watch.html", 422, here="schedule", **context)


@router.get("/projects/{project_id}/watch")
def ask(
    request: Request,
    project_id: OwnProject,
    tools: Tools,
    notification_email: Annotated[Text, Query(max_length=300)] = "",
    frequency: Annotated[Text, Query(max_length=20)] = "daily",
) -> Response:
    """The same question on a page of its own, with what was typed before."""
    typed = {"notification_email": notification_email, "frequency": frequency}
    context = ask_about(tools, tools.store.get_project(project_id), typed)
    if not any(context["ask"].values()):
        return go(f"/projects/{project_id}/schedule")
    return page(request, "ask_watch.html", here="schedule", **context)


@router.post("/projects/{project_id}/watch/mail")
def set_up_mail(project_id: OwnProject, form: Sent) -> Response:
    """To the mail server's settings, and from there back with what was typed; tokens of chats stand in no address."""
    typed = {name: form.text(name)[:255] for name in ("notification_email", "frequency") if form.text(name)}
    back = f"/projects/{project_id}/watch{query(**typed)}"
    return go(f"/system/settings{query(back=back)}#mail")


@router.get("/projects/{project_id}/edit")
def edit(request: Request, project_id: OwnProject, tools: Tools) -> Response:
    project = tools.store.get_project(project_id)
    values = {
        "name": project.name,
        "website_url": project.website_url or "",
        "is_active": "on" if project.is_active else "",
        "tags": ", ".join(project.tags),
        **fields_of(project.settings),
    }
    return _show(request, tools, project, values, {})


@router.post("/projects/{project_id}/edit")
def save(request: Request, project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    project = tools.store.get_project(project_id)
    settings, errors = settings_of(form)
    tags, wrong_tags = _tags(form)
    errors |= wrong_tags
    if not errors:
        changes = {
            "name": _new_name(tools, project, form),
            **({"tags": tags} if "tags" in form else {}),
            "website_url": form.text("website_url") or None,
            "is_active": form.flag("is_active"),
            "settings": settings,
        }
        try:
            changed = tools.projects.manage.change(project_id, changes)
        except (Invalid, Conflict) as exc:
            errors = _placed(exc)
        else:
            return go(f"/projects/{project_id}", "moved" if _leaves_credentials(tools, project, changed) else "saved")
    return _show(request, tools, project, form.raw(), errors, 422)


@router.post("/projects/{project_id}/preview")
def preview(request: Request, project_id: OwnProject, tools: Tools, form: Sent) -> Response:
    """What the rules as they are typed would do. Nothing is saved."""
    settings, errors = settings_of(form)
    effect = None
    if not errors:
        try:
            effect = tools.projects.preview_settings(
                project_id,
                settings,
                seed_url=form.text("website_url") or None,
                last_crawl=_last_whole(tools, project_id),
            )
        except Invalid as exc:
            errors = _placed(exc)
    return page(request, "parts/scope_effect.html", effect=effect, errors=errors, own_host=_host(form))


def _host(form: Form) -> str:
    return split_url(form.text("website_url"))[0]


def _last_whole(tools: App, project_id: UUID) -> UUID | None:
    crawls = tools.store.list_crawls(project_id, LOOKED_AT)
    return next((crawl.id for crawl in crawls if crawl.crawl_type is not CrawlType.FETCH_ONLY), None)


def _show(
    request: Request,
    tools: App,
    project: Project | None,
    values: Mapping[str, Any],
    errors: Mapping[str, str],
    status: int = 200,
) -> Response:
    return page(
        request,
        "project_form.html" if project else "project_new.html",
        status,
        here="settings",
        project=project,
        values=values,
        errors=errors,
        origins=_origins(tools, project.id) if project else (),
        ceiling=tools.settings.max_pages_ceiling,
        defaults=CrawlConfig(),
        small_site=SMALL_SITE,
        presets=PRESETS,
    )


def _leaves_credentials(tools: App, before: Project, now: Project) -> bool:
    """Whether the project's address moved away from an origin for which credentials are stored."""
    known = _origins(tools, now.id)
    left, reached = (parse(one.website_url).origin if one.website_url else "" for one in (before, now))
    return left != reached and left in known and reached not in known


def _origins(tools: App, project_id: UUID) -> list[str]:
    """Where the project's credentials are sent."""
    return list(dict.fromkeys(one.origin for one in tools.projects.credentials.list(project_id)))


def _new_name(tools: App, project: Project, form: Form) -> str:
    """What was typed. A name that nobody chose goes with the address, unless another project has that name."""
    typed, url = form.text("name"), form.text("website_url")
    if typed != project.name or not project.website_url or typed != _name_of(project.website_url):
        return typed
    name = _name_of(url)
    return name if name and tools.store.find_project(name) is None else typed


def _name_of(url: str) -> str:
    """The default name of a project: its website's URL without the scheme."""
    return url.partition("://")[2].strip("/")[:200]


def _placed(exc: Invalid | Conflict) -> dict[str, str]:
    """The error by field: beside the field its message names, or above the form."""
    if isinstance(exc, Conflict):
        return {"name": exc.message}
    where, _, _ = exc.message.partition(":")
    name = where.split(".")[0].strip()
    if name in CrawlConfig.model_fields or name == "name":
        return {name: exc.message.partition(":")[2].strip() or exc.message}
    return {"website_url" if exc.code == "invalid_url" else "": exc.message}
