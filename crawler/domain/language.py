"""The language a page is written in, as an ISO code such as `en`."""

import re

import pycld2  # type: ignore[import-untyped]

_SAMPLE_CHARS = 200
_MIN_PERCENT = 60
_TAG = re.compile(r"^\s*([A-Za-z]{2,3})(?:[-_]|\s*$)")
_MODERN = {"iw": "he", "in": "id", "ji": "yi", "jw": "jv", "mo": "ro", "nb": "no"}
"""Codes that were renamed, or that the detector does not tell apart."""


def detect(text: str, declared: str | None = None) -> str | None:
    """What the text is written in if that is clear, else what the page declares, else None.

    The text wins because templates declare the language of their author. The sample is from the middle:
    the start is navigation, often with a menu of languages.
    """
    return _detected(_sample(text)) or primary_tag(declared)


def primary_tag(declared: str | None) -> str | None:
    """`de` of `de-AT`; None if it is not a language tag."""
    found = _TAG.match(declared) if declared else None
    if not found:
        return None
    code = found[1].lower()
    return _MODERN.get(code, code)


def _sample(text: str) -> str:
    if len(text) <= _SAMPLE_CHARS:
        return text
    start = (len(text) - _SAMPLE_CHARS) // 2
    return text[start : start + _SAMPLE_CHARS]


def _detected(sample: str) -> str | None:
    try:
        reliable, _, languages = pycld2.detect(sample, isPlainText=True)
    except pycld2.error:  # control characters and the like, which it refuses
        return _detected(_printable(sample)) if not sample.isprintable() else None
    _, code, percent, _ = languages[0]
    return primary_tag(code) if reliable and percent >= _MIN_PERCENT else None


def _printable(sample: str) -> str:
    return "".join(char if char.isprintable() else " " for char in sample)
