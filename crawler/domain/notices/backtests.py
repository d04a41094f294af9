"""Backtests: which past crawls would have sent a notice with other rules or thresholds."""

from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from typing import Annotated, Any, NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from crawler.domain.crawls.crawl import CrawlConfig, CrawlType
from crawler.domain.noise.rules import RuleKind, checked_value
from crawler.domain.notices.notice import NOT_ARRIVED, Delivery, should_notify
from crawler.domain.notices.schedule import NotifyOn, ScheduleConfig
from crawler.domain.notices.schedule_choices import MOST_CRAWLS
from crawler.domain.watching.conditions import Conditions
from crawler.domain.watching.rules import WatchOrder
from crawler.domain.watching.telling import TellReason, told_words
from crawler.errors import Invalid, InvalidPattern

MOST_REASONS = 20
MOST_PAGES = 2_000
"""Compared again in one backtest; older crawls are then judged by their thresholds alone."""


_Written = Annotated[str, StringConstraints(max_length=1000)]


class TrialRules(BaseModel):
    """What is tried in place of what holds now; what is left out stays."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    significant_new_pages: int | None = Field(None, ge=1, le=10_000_000)
    significant_changed_share: float | None = Field(None, gt=0, le=1, allow_inf_nan=False)
    notify_on: NotifyOn | None = None
    ignore_selectors: tuple[_Written, ...] = Field(
        (), max_length=50, description="CSS selectors, beside the rules there are"
    )
    ignore_patterns: tuple[_Written, ...] = Field((), max_length=50, description="Regular expressions for lines")
    ignore_numbers: bool = False
    ignore_dates: bool = False
    conditions: Conditions | None = Field(
        None, description="Tried in place of those of the schedule; null: as if it had none"
    )
    watch: WatchOrder | None = Field(None, description="A watch rule, beside those there are")
    in_place_of: UUID | None = Field(
        None, description="The id of a watch rule that is left out, as `watch` replaces it"
    )
    crawls: int = Field(20, ge=1, le=MOST_CRAWLS, description="So many of the newest")

    @field_validator("ignore_selectors")
    @classmethod
    def _are_selectors(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_checked(RuleKind.SELECTOR, value) for value in values)

    @field_validator("ignore_patterns")
    @classmethod
    def _are_patterns(cls, values: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(_checked(RuleKind.REGEX, value) for value in values)

    @property
    def noise(self) -> list[tuple[RuleKind, str]]:
        found = [(RuleKind.SELECTOR, value) for value in self.ignore_selectors]
        found += [(RuleKind.REGEX, value) for value in self.ignore_patterns]
        asked = ((RuleKind.NUMBERS, self.ignore_numbers), (RuleKind.DATES, self.ignore_dates))
        return found + [(kind, "*") for kind, wanted in asked if wanted]


class ToldReason(BaseModel):
    """A page for which a condition held, or of which a rule tells."""

    model_config = ConfigDict(frozen=True)

    url: str
    rule: str | None = Field(
        description="The id of the watch rule, all zeros of the one that is tried; null: the conditions"
    )
    why: str


class Verdict(BaseModel):
    model_config = ConfigDict(frozen=True)

    alert: bool
    why: str
    changed_pages: int
    reasons: tuple[ToldReason, ...] = Field((), description="By conditions and watch rules; the first 20")

    def told_by(self, reasons: Sequence[TellReason]) -> "Verdict":
        """The same, if conditions or watch rules tell it, too."""
        if not reasons:
            return self
        few = tuple(ToldReason(**reason.as_record()) for reason in reasons[:MOST_REASONS])
        why = f"{told_words(reasons)}; {self.why}" if self.alert else told_words(reasons)
        return self.model_copy(update={"alert": True, "why": why, "reasons": few})


class Trial(BaseModel):
    """One past crawl: what it told, and what it would have told."""

    model_config = ConfigDict(frozen=True)

    crawl_id: UUID
    completed_at: datetime | None
    then: Verdict = Field(description="What happened: whether anybody was told, and by which channels")
    now: Verdict = Field(description="What would happen by the rules that are tried")
    rules_tried: bool = Field(description="False: its pages were too many, or none was asked for; only thresholds were")


class Thresholds(NamedTuple):
    new_pages: int
    changed_share: float
    notify_on: NotifyOn

    @classmethod
    def of(cls, config: CrawlConfig, notify_on: NotifyOn) -> "Thresholds":
        return cls(config.significant_new_pages, config.significant_changed_share, notify_on)

    def tried(self, rules: TrialRules) -> "Thresholds":
        return Thresholds(
            rules.significant_new_pages or self.new_pages,
            rules.significant_changed_share or self.changed_share,
            rules.notify_on or self.notify_on,
        )


class Counted(NamedTuple):
    new: int
    """Moved pages are new addresses, too."""
    removed: int
    changed: int
    unchanged: int
    template: int
    template_pages: int = 0
    """Pages that show an edit of the template and did not change otherwise."""
    unseen: int = 0
    """Pages that should have been compared and could not."""
    watched: int = 0
    """Changes of values that watch rules name."""

    @classmethod
    def of(cls, summary: Mapping[str, Any]) -> "Counted":
        counts = summary["summary"]
        return cls(
            counts["new_pages"] + summary.get("moved_pages", 0),
            counts["removed_pages"],
            counts["changed_pages"],
            counts["unchanged_pages"],
            len(summary.get("template_changes", ())),
            summary.get("template_pages", 0),
            _unseen(summary),
            summary.get("watched_changes", 0),
        )

    def without(self, summary: Mapping[str, Any], pages: Set[str]) -> "Counted":
        """The same as if these pages were as before."""

        def found(name: str, key: str = "url") -> int:
            listed = (one if isinstance(one, str) else one[key] for one in summary.get(name, ()))
            return sum(url in pages for url in listed)

        changed = found("changed_page_urls")
        return self._replace(
            new=self.new - found("new_page_urls") - found("moved", "to"),
            removed=self.removed - found("removed_page_urls"),
            changed=self.changed - changed,
            unchanged=self.unchanged + changed,
            watched=max(0, self.watched - found("watched")),
        )

    @property
    def edited(self) -> int:
        """Pages on which anything counts."""
        return min(self.changed + (self.template_pages if self.template else 0), self.changed + self.unchanged)

    @property
    def share(self) -> float:
        expected = self.changed + self.unchanged + self.unseen
        return self.edited / expected if expected else 0.0


def _unseen(summary: Mapping[str, Any]) -> int:
    coverage = summary.get("coverage") or {}
    return int(coverage.get("expected", 0)) - int(coverage.get("compared", 0))


def judge(counted: Counted, limits: Thresholds) -> Verdict:
    reasons = []
    if counted.new >= limits.new_pages:
        reasons.append(f"{counted.new:,} new page{'' if counted.new == 1 else 's'}, at least {limits.new_pages:,}")
    if counted.edited and counted.share >= limits.changed_share:
        reasons.append(f"{counted.share:.1%} changed, at least {limits.changed_share:.1%}")
    alert = should_notify(_schedule(limits.notify_on), _summary(counted, significant=bool(reasons)))
    return Verdict(alert=alert, why=_why(counted, reasons, limits), changed_pages=counted.changed)


def past_verdict(crawl_type: CrawlType, told: Sequence[tuple[str, str]], counted: Counted) -> Verdict:
    """What came of a crawl then, whatever its schedule says since. `told`: channels, and what became of each notice."""
    arrived = any(status not in NOT_ARRIVED for _, status in told)
    if told:
        # That of a recipient has a number, which says nothing to people.
        kinds = [(channel.partition("-")[0], status) for channel, status in told]
        named = (kind if status == Delivery.SENT else f"{kind} ({status})" for kind, status in kinds)
        why = f"{'told by' if arrived else 'it did not arrive:'} {', '.join(dict.fromkeys(named))}"
    elif crawl_type is CrawlType.SCHEDULED:
        why = "nobody was told"
    else:
        why = f"{crawl_type} crawls send no notifications"
    return Verdict(alert=arrived, why=why, changed_pages=counted.changed)


def _schedule(notify_on: NotifyOn) -> ScheduleConfig:
    """Any schedule that notifies of these changes."""
    return ScheduleConfig.model_validate({"frequency": "daily", "notify_on": notify_on})


def _summary(counted: Counted, *, significant: bool) -> dict[str, Any]:
    return {
        "summary": {
            "new_pages": counted.new,
            "removed_pages": counted.removed,
            "changed_pages": counted.changed,
            "unchanged_pages": counted.unchanged,
        },
        "is_significant": significant,
        "template_changes": [{}] * counted.template,
        "watched_changes": counted.watched,
    }


def _why(counted: Counted, reasons: list[str], limits: Thresholds) -> str:
    if reasons:
        return "; ".join(reasons)
    told = (("new", counted.new), ("changed", counted.changed), ("removed", counted.removed))
    found = ", ".join(f"{number:,} {kind}" for kind, number in told if number)
    if not found:
        edits = "edit" if counted.template == 1 else "edits"
        found = f"{counted.template:,} {edits} of the template" if counted.template else "nothing changed"
    return found if limits.notify_on is not NotifyOn.SIGNIFICANT else f"{found}: not significant"


def _checked(kind: RuleKind, value: str) -> str:
    try:
        return checked_value(kind, value)
    except (Invalid, InvalidPattern) as exc:
        raise ValueError(exc.message) from exc
