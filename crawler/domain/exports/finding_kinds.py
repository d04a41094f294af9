"""Kinds of findings, apart from `reports.py`: the command shows them without loading Pydantic."""

from enum import StrEnum


class FindingKind(StrEnum):
    """In the order people read them."""

    BROKEN_LINK = "broken_link"
    REDIRECT = "redirect"
    TITLE_MISSING = "title_missing"
    TITLE_DUPLICATE = "title_duplicate"
    DESCRIPTION_MISSING = "description_missing"
    DESCRIPTION_DUPLICATE = "description_duplicate"
    H1_MISSING = "h1_missing"
    CANONICAL = "canonical"
    HREFLANG = "hreflang"
    NOINDEX = "noindex"
    SLOW = "slow"
    LARGE = "large"
    ORPHAN = "orphan"
