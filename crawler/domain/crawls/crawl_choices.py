"""Options of a crawl that are one of a few words. Commands show them without Pydantic, which `crawl.py` needs."""

from enum import StrEnum

SOURCE_DEPTH = 2
SOURCE_PAGES = 50
"""Defaults of a crawl for documents (`source_crawl.py`)."""


class IncludeMode(StrEnum):
    ONLY = "only"
    PREFER = "prefer"


class Preset(StrEnum):
    AUTO = "auto"
    SHOPIFY = "shopify"
    NONE = "none"


class QueryParams(StrEnum):
    AUTO = "auto"
    MEANINGFUL = "meaningful"
    KEEP = "keep"
    DROP = "drop"


class RenderMode(StrEnum):
    AUTO = "auto"
    NEVER = "never"
    ALWAYS = "always"
