"""A crawl's options on the wire."""

from pydantic import Field

from crawler.domain.crawls import CrawlConfig
from crawler.domain.render_rule import RenderRule


class ConfigShown(CrawlConfig):
    render_rule: RenderRule = Field(default_factory=RenderRule)
