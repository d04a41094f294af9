"""A crawl's options on the wire."""

from pydantic import Field, field_serializer

from crawler.domain.crawls import CrawlConfig
from crawler.domain.reasons import Reason
from crawler.domain.render_rule import RenderRule


class RenderRuleShown(RenderRule):
    """Sets in one order: the same options must read the same each time, or no ETag would hold."""

    @field_serializer("statuses")
    def _statuses(self, value: frozenset[int]) -> list[int]:
        return sorted(value)

    @field_serializer("failures")
    def _failures(self, value: frozenset[Reason]) -> list[Reason]:
        return sorted(value)


class ConfigShown(CrawlConfig):
    render_rule: RenderRuleShown = Field(default_factory=RenderRuleShown)
