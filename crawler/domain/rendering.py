"""Does a page need a browser? Seed 004's four signals, each decision with the signal and the number behind it.

The homepage decides for the whole crawl. On a site that needs no browser a page that looks like an empty shell is
rendered by itself; on a site that does, some pages are compared with what the server alone sends (`url_shapes`).
"""

import re
from enum import StrEnum
from typing import Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from crawler.domain.crawls import RenderMode
from crawler.domain.page_measure import ENOUGH_TAGS, ENOUGH_TEXT, Measure
from crawler.domain.reasons import Reason

# A browser would get the same answer, or must not ask at all.
_NEVER_STATUSES = frozenset({404, 410, 429, 503})
_NEVER_REASONS = frozenset(
    {
        Reason.ROBOTS,
        Reason.ROBOTS_UNREACHABLE,
        Reason.EGRESS,
        Reason.NOT_FOUND,
        Reason.RATE_LIMITED,
        Reason.HOST_BLOCKED,
    }
)
_SYNTAX = re.compile(r"[#*\[\]()!\-_>|`]+")


class Signal(StrEnum):
    SHORT_TEXT = "short_text"
    EMPTY_BODY = "empty_body"
    LOW_RATIO = "low_ratio"
    FETCH_FAILED = "fetch_failed"
    # not of the page itself
    ASKED = "asked"
    SITE = "site"
    SHAPE = "shape"


class RenderRule(BaseModel):
    """The thresholds: seed 004's, unless somebody sets others."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_text_chars: int = Field(200, ge=0, description="Less text than this is a shell (signal 1)")
    min_content_tags: int = Field(3, ge=0, le=ENOUGH_TAGS, description="Fewer, with a bundle script, too (signal 2)")
    min_text_ratio: float = Field(0.05, ge=0, le=ENOUGH_TEXT, description="Text over markup below this, too (signal 3)")
    statuses: frozenset[int] = Field(frozenset({403}), description="Answers a browser may get past (signal 4)")
    failures: frozenset[Reason] = Field(
        frozenset({Reason.TIMEOUT, Reason.CONNECT, Reason.CONTENT_TYPE}), description="Failures likewise (signal 4)"
    )
    compare_one_in: int = Field(20, ge=1, description="Of so many pages one is fetched both ways")
    agreeing_needed: int = Field(5, ge=1, description="Comparisons in a row after which a URL shape goes light")
    same_share: float = Field(0.9, gt=0, le=1, description="Of a rendered page's words and links, to agree")

    @model_validator(mode="after")
    def _never_asks_in_vain(self) -> Self:
        vain = [*map(str, sorted(self.statuses & _NEVER_STATUSES)), *sorted(self.failures & _NEVER_REASONS)]
        if vain:
            raise ValueError(f"a browser is never tried after {', '.join(vain)}")
        return self


class Decision(NamedTuple):
    """Whether to render, and why. Kept with the page or crawl, and shown by `crawler explain`."""

    render: bool
    signal: Signal | None = None
    measured: float | str | None = None
    """Characters, tags or the share that was found; of a failed fetch its status or reason."""
    limit: float | None = None

    @property
    def words(self) -> str:
        return _words(self)

    def as_record(self) -> dict[str, Any]:
        """For JSON; what is not known is left out."""
        record = {"render": self.render, "signal": self.signal, "measured": self.measured, "limit": self.limit}
        return {name: value for name, value in record.items() if value is not None}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        signal = Signal(record["signal"]) if "signal" in record else None
        return cls(bool(record["render"]), signal, record.get("measured"), record.get("limit"))


LIGHT = Decision(render=False)


def decide_homepage(measure: Measure, markdown: str, rule: RenderRule) -> Decision:
    """For the whole crawl. The seed counts the homepage's text in its markdown, with the syntax stripped."""
    return _signals(measure._replace(text_chars=len(plain_text(markdown))), rule)


def decide_page(measure: Measure, rule: RenderRule) -> Decision:
    """Of any other page on a site that needs no browser. A page without scripts is all there is."""
    return _signals(measure, rule) if measure.has_scripts else LIGHT


def decide_failure(reason: Reason | None, status: int, rule: RenderRule) -> Decision:
    """Signal 4, of a homepage for which the light fetch has given up. An answer that says no outweighs its body."""
    if reason in _NEVER_REASONS or status in _NEVER_STATUSES:
        return LIGHT
    if status >= 400:
        return Decision(render=True, signal=Signal.FETCH_FAILED, measured=status) if status in rule.statuses else LIGHT
    return Decision(render=True, signal=Signal.FETCH_FAILED, measured=str(reason)) if reason in rule.failures else LIGHT


def decide_mode(mode: RenderMode) -> Decision | None:
    """What was asked for; None when that is left to the pages."""
    if mode is RenderMode.AUTO:
        return None
    return Decision(render=mode is RenderMode.ALWAYS, signal=Signal.ASKED, measured=mode.value)


def plain_text(markdown: str) -> str:
    """Seed 004's: without `# * [ ] ( ) ! - _ > |` and backticks, and without white space around it."""
    return _SYNTAX.sub("", markdown).strip()


def _signals(measure: Measure, rule: RenderRule) -> Decision:
    """In the seed's order. This runs for every page: three comparisons."""
    text, markup = measure.text_chars, measure.html_chars
    if text < rule.min_text_chars:
        return Decision(True, Signal.SHORT_TEXT, text, rule.min_text_chars)  # noqa: FBT003
    if measure.has_bundle and measure.content_tags < rule.min_content_tags:
        return Decision(True, Signal.EMPTY_BODY, measure.content_tags, rule.min_content_tags)  # noqa: FBT003
    if markup and text / markup < rule.min_text_ratio:
        return Decision(True, Signal.LOW_RATIO, round(text / markup, 4), rule.min_text_ratio)  # noqa: FBT003
    return LIGHT


def _words(decision: Decision) -> str:
    measured, limit = decision.measured, decision.limit
    match decision.signal:
        case Signal.SHORT_TEXT:
            return f"it has {measured} characters of text, fewer than {limit}"
        case Signal.EMPTY_BODY:
            return f"its body has {measured} content tags, fewer than {limit}, and loads a bundle of scripts"
        case Signal.LOW_RATIO:
            return f"{float(measured or 0):.1%} of its markup is text, less than {float(limit or 0):.0%}"
        case Signal.FETCH_FAILED:
            return f"the light fetch failed ({measured})"
        case Signal.ASKED:
            return f"render is set to {measured}"
        case Signal.SITE:
            return "the site's homepage needs a browser"
        case Signal.SHAPE:
            return f"pages of its kind ({measured}) say the same without a browser"
        case None:
            return "the server sends its text"
