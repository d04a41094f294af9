"""“Check it daily? Who should be told?”: asked after a crawl of a project that nobody is told about."""

from collections.abc import Mapping
from typing import Any

from crawler.bootstrap import App
from crawler.domain.crawls.project import Project
from crawler.domain.notices.notice import targets
from crawler.domain.notices.presets import PRESETS
from crawler.entrypoints.dashboard.views.channel_warnings import NO_MAIL
from crawler.errors import InvalidConfig


def ask_about(
    tools: App, project: Project, values: Mapping[str, str] | None = None, errors: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """What is not answered yet: `often` and `tell` are true where the project has no schedule, and nobody to tell."""
    try:
        schedule = tools.notices.schedules.find(project.id)
    except InvalidConfig:
        schedule = None
    often = bool(project.website_url) and not (schedule and schedule.config.enabled)
    return {
        "project": project,
        "ask": {"often": often, "tell": not (schedule and targets(schedule) and schedule.config.notify_on_changes)},
        "values": values or {},
        "errors": errors or {},
        "presets": PRESETS,
        "mail_warning": NO_MAIL if tools.notices.warn_about_channels.mail_warning() else None,
    }
