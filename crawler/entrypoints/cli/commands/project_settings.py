"""`crawler project set`: change a project and its crawl settings.

The settings, their limits and defaults: `CrawlConfig` in `domain/crawls/crawl.py`.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from crawler.domain.crawls.crawl_choices import IncludeMode, QueryParams, RenderMode
from crawler.entrypoints.cli.backend.naming import open_project
from crawler.entrypoints.cli.input.names import ProjectName
from crawler.entrypoints.cli.input.option_names import told_in_options
from crawler.errors import Invalid, InvalidConfig
from crawler.lazy_module import on_first_use

with on_first_use():
    from crawler.domain.crawls.crawl import CrawlConfig
    from crawler.domain.crawls.project import Project, checked_name
    from crawler.domain.urls.typed_url import page_url
    from crawler.entrypoints.cli.screen.project_page import show_project
    from crawler.handlers.crawls.start_crawl import valid_config
    from crawler.handlers.notices.watch_url import settings_of_whole_site


def set_project(
    project: ProjectName,
    name: Annotated[str | None, typer.Option(help="A name of your choice, used once.")] = None,
    url: Annotated[str | None, typer.Option(help="Where its crawls begin.")] = None,
    active: Annotated[bool | None, typer.Option("--active/--inactive", help="Whether it may be crawled.")] = None,
    site: Annotated[bool, typer.Option("--site", help="All pages of its site again, not one alone.")] = False,
    max_pages: Annotated[int | None, typer.Option(metavar="N", help="Stop after so many stored pages.")] = None,
    depth: Annotated[int | None, typer.Option(metavar="N", help="Follow links so far.")] = None,
    include: Annotated[list[str] | None, typer.Option(metavar="RE", help="Only these; may be repeated.")] = None,
    exclude: Annotated[list[str] | None, typer.Option(metavar="RE", help="Never these; may be repeated.")] = None,
    include_mode: Annotated[IncludeMode | None, typer.Option(help="'prefer': others too, but later.")] = None,
    query_params: Annotated[QueryParams | None, typer.Option(help="Which parameters tell pages apart.")] = None,
    delay: Annotated[float | None, typer.Option(metavar="SECONDS", help="Between requests to a host.")] = None,
    concurrency: Annotated[int | None, typer.Option(metavar="N", help="Requests in flight at most.")] = None,
    render: Annotated[RenderMode | None, typer.Option(help="Whether pages go through a browser.")] = None,
    robots: Annotated[
        bool | None, typer.Option("--obey-robots/--ignore-robots", help="Whether to ask robots.txt.")
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Any other setting, e.g. use_sitemaps=false; may be repeated."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="JSON for programs.")] = False,
) -> None:
    """Change a project, or the settings of its next crawls. Only what is given changes."""
    options = {
        "max_pages": max_pages,
        "max_depth": depth,
        "include_patterns": include or None,
        "exclude_patterns": exclude or None,
        "include_mode": include_mode,
        "query_params": query_params,
        "delay_seconds": delay,
        "max_concurrent": concurrency,
        "render": render,
        "respect_robots_txt": robots,
    }
    given = {name: value for name, value in options.items() if value is not None} | _named(setting or ())
    settings = _checked((settings_of_whole_site() if site else {}) | given)
    own = {
        "name": checked_name(name) if name is not None else None,
        "website_url": page_url(url).href if url is not None else None,
        "is_active": active,
        "settings": settings or None,
    }
    changes = {field: value for field, value in own.items() if value is not None}
    if not changes:
        raise Invalid("Nothing is to be changed; 'crawler project set -h' lists what can be.")
    show_project(_changed(project, changes), as_json=as_json)


def _changed(project: str, changes: Mapping[str, Any]) -> Project:
    try:
        with open_project(project) as (backend, project_id):
            return backend.change_project(project_id, changes)
    except InvalidConfig as exc:
        raise told_in_options(exc) from exc


def _named(pairs: Sequence[str]) -> dict[str, Any]:
    """Parse NAME=VALUE pairs; a value is JSON or plain text."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign or name not in CrawlConfig.model_fields:
            raise Invalid(
                f"{pair!r} names no setting; write NAME=VALUE with one of {', '.join(CrawlConfig.model_fields)}."
            )
        try:
            found[name] = json.loads(value)
        except ValueError:
            found[name] = value.split(",") if _is_list(name) else value
    return found


def _is_list(name: str) -> bool:
    """Whether the option's value is a comma-separated list. Patterns and steps are not: they may contain commas."""
    return isinstance(CrawlConfig.model_fields[name].default, tuple) and not name.endswith(("_patterns", "_steps"))


def _checked(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Validate the settings before they are sent, with messages that name the options. Returns them as JSON values."""
    try:
        valid = valid_config(settings)
    except InvalidConfig as exc:
        raise told_in_options(exc) from exc
    return valid.model_dump(mode="json", include=set(settings))
