"""Whether anybody would be told of a project's changes: by its schedule, or as a recipient."""

from collections.abc import Callable, Sequence
from uuid import UUID

from crawler.domain.notices.notice import targets
from crawler.domain.notices.recipients import Recipient
from crawler.handlers.notices.ports import ScheduleFinder


class FindAudience:
    def __init__(self, schedules: ScheduleFinder, recipients: Callable[[UUID], Sequence[Recipient]]) -> None:
        self._schedules = schedules
        self._recipients = recipients

    def __call__(self, project_id: UUID) -> bool:
        schedule = self._schedules.find(project_id)
        if schedule is None:
            return False
        is_named = schedule.config.notify_on_changes and bool(targets(schedule))
        return is_named or any(one.enabled for one in self._recipients(project_id))
