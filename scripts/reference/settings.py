"""Reference tables: every environment variable, and every option of a crawl."""

import inspect
import re
from pathlib import Path

from pydantic.fields import FieldInfo

from crawler.config import PREFIX, Settings
from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.runtime_settings import RuntimeSettings
from crawler.handlers.engine.record_page import MAX_LINKS
from scripts.reference.text import table

OPTION_MEANINGS = {
    "include_patterns": "Regular expressions (RE2); only URLs that one of them matches are crawled",
    "exclude_patterns": "Regular expressions (RE2); URLs that one of them matches are not crawled",
    "include_mode": "`only`: other URLs are skipped; `prefer`: other URLs come later",
    "preset": (
        "Patterns where the crawl has none: `auto` leaves out account, cart and checkout, and for a Shopify shop does "
        "as `shopify`, which crawls collections and pages only; `none`"
    ),
    "query_params": (
        "Query parameters that tell pages apart: those of `meaningful_params` and those a crawl finds out (`auto`), "
        "only those of `meaningful_params` (`meaningful`), all (`keep`), none (`drop`)"
    ),
    "meaningful_params": "Query parameters that tell pages apart",
    "allow_subdomains": "Crawl subdomains of the seed's host too",
    "allowed_hosts": "Other hosts that belong to the site",
    "path_prefix": "Only URLs below this path",
    "max_concurrent": "Requests of this crawl open at once",
    "delay_seconds": "Least time between two requests to one host",
    "respect_robots_txt": "Obey robots.txt",
    "use_sitemaps": "Read the site's sitemaps for URLs",
    "max_duration_seconds": "Time after which the crawl ends; pauses do not count",
    "render": "`auto`: use a browser where a page needs one; `never`; `always`",
    "content_types": "Types of answers that are stored",
    "max_links_per_page": f"Follow so many links of a page; null is {MAX_LINKS:,}",
}
"""Descriptions of crawl options whose field has none."""


def settings() -> str:
    return "\n".join(f"### {group[:1].upper()}{group[1:]}\n\n{_settings(names)}" for group, names in _groups().items())


def _groups() -> dict[str, list[str]]:
    """The settings by group; the comments between the fields name the groups."""
    found: dict[str, list[str]] = {}
    group = ""
    for line in inspect.getsource(Settings).splitlines():
        if comment := re.match(r"    # (.+)", line):
            group = comment[1]
        elif (field := re.match(r"    (\w+): ", line)) and field[1] in Settings.model_fields:
            group = "logs and tests" if field[1] == "failpoint" else group
            found.setdefault(group, []).append(field[1])
    return found


def _settings(names: list[str]) -> str:
    fields = Settings.model_fields
    rows = [(f"`{PREFIX}{name.upper()}`", _value(fields[name]), _told(name)) for name in names]
    return table(("variable", "default (allowed)", "meaning"), rows)


def _told(name: str) -> str:
    while_running = ". Can be changed while everything runs" if name in RuntimeSettings.model_fields else ""
    return f"{_marked(Settings.model_fields[name].description or '')}{while_running}"


def _marked(words: str) -> str:
    """Mark names as code: settings without their prefix, commands, URLs."""
    words = re.sub(r"(?<!\w)'([^']+)'(?!\w)", r"`\1`", words)
    return re.sub(r"(?<!`)\b(\w+://[^\s);,]+|whsec_…|user:password)(?!\S*`)", r"`\1`", words)


def _default(field: FieldInfo) -> str:
    if field.default_factory is not None and field.annotation is Path:
        return "`~/.local/share/crawler`"
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None or value == () or value == "":
        return "–"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return ", ".join(f"`{one}`" for one in value)
    return f"`{value}`"


def _value(field: FieldInfo) -> str:
    bounds = _bounds(field)
    return f"{_default(field)} ({bounds})" if bounds else _default(field)


def _bounds(field: FieldInfo) -> str:
    found = {name: getattr(rule, name) for rule in field.metadata for name in _WORDS if hasattr(rule, name)}
    told = [_WORDS[name].format(value) for name, value in found.items() if value is not None]
    return ", ".join(told)


_WORDS = {"gt": "more than {:,}", "ge": "at least {:,}", "lt": "less than {:,}", "le": "at most {:,}"}


def crawl_options() -> str:
    rows = []
    for name, field in CrawlConfig.model_fields.items():
        if name == "render_rule":
            rows.append((f"`{name}`", "", f"{field.description}; `GET /api/v1/openapi.json` lists its thresholds"))
        else:
            rows.append((f"`{name}`", _value(field), field.description or OPTION_MEANINGS[name]))
    return table(("option", "default (allowed)", "meaning"), rows)
