"""A crawl for documents: it begins at a URL, stays near it, and its pages become documents of the project."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from crawler.domain.crawls.crawl import Pattern
from crawler.domain.crawls.crawl_choices import SOURCE_DEPTH, SOURCE_PAGES


class SourceCrawl(BaseModel):
    model_config = ConfigDict(frozen=True)

    url: str = Field(max_length=2000, description="Where the crawl begins; its domain is the scope")
    max_depth: int = Field(SOURCE_DEPTH, ge=1, le=1000)
    max_pages: int = Field(SOURCE_PAGES, ge=1, le=10_000_000)
    url_include_pattern: Pattern | None = Field(None, description="One regular expression; commas do not split it")
    url_exclude_pattern: Pattern | None = None
    ingest: bool = Field(default=True, description="Make a document of each page")
    refresh: bool = Field(default=False, description="Fetch URLs again that have a document already")

    def config(self) -> dict[str, Any]:
        """Crawl settings without sitemaps: they name the whole site, and this crawl stays near its start."""
        patterns = {"include_patterns": self.url_include_pattern, "exclude_patterns": self.url_exclude_pattern}
        return {
            "max_depth": self.max_depth,
            "max_pages": self.max_pages,
            "use_sitemaps": False,
            "ingest": self.ingest,
            "refresh": self.refresh,
            **{name: [pattern] for name, pattern in patterns.items() if pattern is not None},
        }
