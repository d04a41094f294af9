"""Crawl options as the API sends and accepts them."""

from pydantic import Field

from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.crawls.render_rule import RenderRule


class ConfigShown(CrawlConfig):
    render_rule: RenderRule = Field(default_factory=RenderRule)
