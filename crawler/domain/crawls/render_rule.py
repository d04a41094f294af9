"""Render rule: thresholds, which people may set, for a page that is an empty shell and needs a browser."""

from http import HTTPStatus
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, WithJsonSchema, model_validator

from crawler.domain.reasons import FAILED, Reason

ENOUGH_TAGS = 10
"""Content tags are counted up to this number: no rule asks for more."""
ENOUGH_TEXT = 0.1
"""Above this share of text the markup is measured in bytes: no rule asks for more text."""

CLEARLY = 0.2
"""How far beyond a limit a homepage must be to change what the last crawl decided."""

_LEAST_STATUS, _LAST_STATUS = 100, 599
# Sorted: the same rule is the same text, for ETags and comparisons. One schema for input and output: client generators
# stop at two schemas of one name.
Statuses = Annotated[
    frozenset[Annotated[int, Field(ge=_LEAST_STATUS, le=_LAST_STATUS)]],
    PlainSerializer(sorted, return_type=list[int], when_used="json"),
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "integer", "minimum": _LEAST_STATUS, "maximum": _LAST_STATUS},
            "uniqueItems": True,
            "maxItems": _LAST_STATUS - _LEAST_STATUS + 1,
        }
    ),
]
Failures = Annotated[
    frozenset[Reason],
    PlainSerializer(sorted, return_type=list[Reason], when_used="json"),
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "string", "enum": [*Reason]},
            "uniqueItems": True,
            "maxItems": len(Reason),
        }
    ),
]

# Never rendered: a browser would get the same response, or must not request the page at all.
NEVER_STATUSES = frozenset({404, 410, 429, 503})
NEVER_REASONS = frozenset(
    {
        Reason.ROBOTS,
        Reason.ROBOTS_UNREACHABLE,
        Reason.EGRESS,
        Reason.NOT_FOUND,
        Reason.RATE_LIMITED,
        Reason.HOST_BLOCKED,
    }
)
# Any other failure may be one that only a browser gets past. What broke the parser or workers would do so again.
_STATUSES = frozenset(status.value for status in HTTPStatus if status >= 400) - NEVER_STATUSES
_FAILURES = (
    (FAILED | {Reason.FORBIDDEN, Reason.CONTENT_TYPE}) - NEVER_REASONS - {Reason.PARSE, Reason.POISON, Reason.LOGIN}
)


class RenderRule(BaseModel):
    """The thresholds by which a page is a shell that needs a browser."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    min_text_chars: int = Field(200, ge=0, le=1_000_000, description="Less text than this is a shell (signal 1)")
    min_content_tags: int = Field(3, ge=0, le=ENOUGH_TAGS, description="Fewer, with a bundle script, too (signal 2)")
    min_text_ratio: float = Field(0.05, ge=0, le=ENOUGH_TEXT, description="Text over markup below this, too (signal 3)")
    statuses: Statuses = Field(_STATUSES, description="Answers a browser may get past (signal 4)")
    failures: Failures = Field(_FAILURES, description="Failures likewise (signal 4)")
    compare_one_in: int = Field(20, ge=1, le=1_000_000, description="Of so many pages one is fetched both ways")
    agreeing_needed: int = Field(
        5, ge=1, le=1_000_000, description="Comparisons in a row after which a URL shape goes light"
    )
    same_share: float = Field(0.9, gt=0, le=1, description="Of a rendered page's words and links, to agree")

    def moved(self, *, up: bool) -> Self:
        """The rule with its limits moved so far that what lies beyond them is clear."""
        factor = 1 + CLEARLY if up else 1 - CLEARLY
        limits = {
            "min_text_chars": self.min_text_chars * factor,
            "min_content_tags": min(self.min_content_tags * factor, ENOUGH_TAGS),
            "min_text_ratio": min(self.min_text_ratio * factor, ENOUGH_TEXT),
        }
        return self.model_copy(update=limits)

    @model_validator(mode="after")
    def _never_asks_in_vain(self) -> Self:
        vain = [*map(str, sorted(self.statuses & NEVER_STATUSES)), *sorted(self.failures & NEVER_REASONS)]
        if vain:
            raise ValueError(f"a browser is never tried after {', '.join(vain)}")
        return self
