"""Crawl options as form fields: lists have one value per line, numbers may have a decimal comma."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.patterns import check_list
from crawler.entrypoints.dashboard.forms.fields import Form
from crawler.entrypoints.dashboard.forms.wrong_values import sentence
from crawler.errors import InvalidPattern

PATTERNS = ("include_patterns", "exclude_patterns")
LINES = ("include_patterns", "exclude_patterns", "allowed_hosts", "meaningful_params", "page_steps")
WORDS = ("include_mode", "preset", "query_params", "render", "path_prefix")
NUMBERS = ("max_pages", "max_concurrent", "delay_seconds", "significant_new_pages", "max_scrolls")
EMPTY_IS_NONE = ("max_depth",)
FLAGS = ("allow_subdomains", "follow_nofollow", "respect_robots_txt", "use_sitemaps", "ingest")
PICTURES = {"": None, "all": True, "none": False}
_SHARE = "significant_changed_share"


def fields_of(config: CrawlConfig) -> dict[str, str]:
    shown: dict[str, str] = {name: "\n".join(getattr(config, name)) for name in LINES}
    shown |= {name: str(getattr(config, name)) for name in WORDS}
    shown |= {name: f"{getattr(config, name):g}" for name in NUMBERS if name != "max_pages"}
    shown["max_pages"] = str(config.max_pages)
    shown |= {name: "" if getattr(config, name) is None else str(getattr(config, name)) for name in EMPTY_IS_NONE}
    shown |= {name: "on" if getattr(config, name) else "" for name in FLAGS}
    shown["screenshots"] = next(word for word, value in PICTURES.items() if value is config.screenshots)
    shown[_SHARE] = f"{config.significant_changed_share * 100:g}"
    return shown


def settings_of(form: Form) -> tuple[dict[str, Any], dict[str, str]]:
    """The options from a form, and validation errors by field."""
    asked: dict[str, Any] = {name: form.lines(name) for name in LINES if name in form}
    asked |= {name: form.text(name) for name in WORDS if name in form}
    asked |= {name: form.text(name).replace(",", ".") for name in NUMBERS if form.text(name)}
    asked |= {name: form.text(name) or None for name in EMPTY_IS_NONE if name in form}
    asked |= {name: form.flag(name) for name in FLAGS}
    if form.text("screenshots") in PICTURES:
        asked["screenshots"] = PICTURES[form.text("screenshots")]
    errors: dict[str, str] = {}
    if form.text(_SHARE):
        try:
            asked[_SHARE] = float(form.text(_SHARE).replace(",", ".").rstrip(" %")) / 100
        except ValueError:
            errors[_SHARE] = "This is not a number."
    wrong = {name: why for name in PATTERNS if (why := _wrong_pattern(asked.get(name, ())))}
    errors |= _wrong_values({**asked, **dict.fromkeys(wrong, ())}) | wrong  # report all errors at once
    return asked, errors


def _wrong_pattern(patterns: Sequence[str]) -> str | None:
    try:
        check_list(patterns)
    except InvalidPattern as exc:
        return exc.message
    return None


def _wrong_values(asked: Mapping[str, Any]) -> dict[str, str]:
    try:
        CrawlConfig.model_validate(asked)
    except ValidationError as exc:
        return {str(error["loc"][0]): sentence(error) for error in reversed(exc.errors())}
    return {}
