"""Kinds of findings, their words, and their CSV."""

import csv
import io

import pytest

from crawler.domain.exports.reports import (
    BROKEN_REASONS,
    HEADINGS,
    PROBLEM_MEANINGS,
    Finding,
    FindingKind,
    Related,
    ReportLimits,
    as_csv,
    finding_kinds,
    problem_meaning,
)
from crawler.domain.pages.header_canonical import header_canonical
from crawler.domain.pages.language_tags import is_language_tag
from crawler.domain.pages.parsing import parse_page
from crawler.errors import Invalid


def rows(*findings: Finding) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(b"".join(as_csv(findings)).decode())))


def broken(**more: object) -> Finding:
    given = {
        "kind": "broken_link",
        "position": 1,
        "url": "http://s/gone",
        "normalized_url": "http://s/gone",
        "problem": "not_found",
        **more,
    }
    return Finding.model_validate(given)


@pytest.mark.parametrize("kind", FindingKind)
def test_every_kind_has_a_heading_and_every_problem_a_sentence(kind: FindingKind) -> None:
    assert HEADINGS[kind]
    problems = BROKEN_REASONS if kind is FindingKind.BROKEN_LINK else PROBLEM_MEANINGS[kind]
    assert problems
    assert all(problem_meaning(kind, problem).endswith(".") for problem in problems)


@pytest.mark.parametrize("kind", FindingKind)
def test_a_problem_of_a_newer_service_has_a_sentence(kind: FindingKind) -> None:
    assert problem_meaning(kind, "invented\x1b[2J") == r"This version knows no words for 'invented\x1b[2J'."


def test_kinds_come_in_reading_order_and_all_when_none_is_named() -> None:
    assert finding_kinds(["orphan", "slow", "slow"]) == (FindingKind.SLOW, FindingKind.ORPHAN)
    assert finding_kinds([]) == tuple(FindingKind)


def test_an_unknown_kind_is_answered_with_those_there_are() -> None:
    with pytest.raises(Invalid, match=r"no kind of finding 'seo'; choose from broken_link, .*orphan"):
        finding_kinds(["slow", "seo"])


def test_a_finding_is_a_row_for_each_page_it_names_and_one_if_it_names_none() -> None:
    sources = (Related(url="http://s/a", text="here"), Related(url="http://s/b", text="there"))
    two, alone = broken(related=sources, related_count=7, is_new=True), broken(is_new=False)
    told = [(row["related_url"], row["related_text"], row["related_count"], row["new"]) for row in rows(two, alone)]
    assert told == [("http://s/a", "here", "7", "new"), ("http://s/b", "there", "7", "new"), ("", "", "0", "known")]
    assert rows(broken())[0]["new"] == "", "nothing was compared"


def test_strangers_words_have_no_power_over_a_spreadsheet() -> None:
    source = Related(url="http://s/a", text="=HYPERLINK(1)")
    (row,) = rows(broken(text="@SUM(1)", related=(source,), related_count=1))
    assert (row["related_text"], row["text"]) == ("'=HYPERLINK(1)", "'@SUM(1)")


def test_a_lone_surrogate_does_not_end_the_file() -> None:
    assert rows(broken(text="broken \ud83d"))[0]["url"] == "http://s/gone"


def test_findings_carry_their_sentence_in_json() -> None:
    assert "no such page" in broken().model_dump()["meaning"]


def test_limits_are_positive() -> None:
    with pytest.raises(ValueError, match="slow_seconds"):
        ReportLimits(slow_seconds=0)


@pytest.mark.parametrize(
    "tag", ["en", "EN", "en-gb", "en-GB", "zh-Hant", "zh-Hant-TW", "es-419", "x-default", "gsw-CH"]
)
def test_language_tags_that_search_engines_understand(tag: str) -> None:
    assert is_language_tag(tag)


@pytest.mark.parametrize(
    "tag", ["", "uk-UK-x", "en-UK", "en_GB", "english", "e", "xx", "de-", "-de", "GB", "en-GB-GB", "x-standard", "日本"]
)
def test_language_tags_that_nobody_understands(tag: str) -> None:
    assert not is_language_tag(tag)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ('<https://s/a>; rel="canonical"', "https://s/a"),
        ("</a>; rel=canonical", "https://s/a"),
        ('</style.css>; rel=preload; as=style, </a?x=1,2>; title="a, b"; rel="canonical"', "https://s/a?x=1,2"),
        ('<b>; rel="alternate canonical"', "https://s/dir/b"),
        ("<a>; rel=next", None),
        ("<javascript:1>; rel=canonical", None),
        ("rel=canonical", None),
        ("<" * 1000, None),
        ("<a>" + "; " * 500, None),
    ],
)
def test_the_canonical_of_a_link_header(header: str, expected: str | None) -> None:
    assert header_canonical(header, "https://s/dir/page") == expected


@pytest.mark.parametrize(("second", "kept"), [("/b", ["/b"]), ("/a", []), ("", [])])
def test_a_second_canonical_that_differs_is_kept_with_the_page(second: str, kept: list[str]) -> None:
    tags = f'<link rel="canonical" href="/a"><link rel="canonical" href="{second}">'
    page = parse_page(f"<html><head>{tags}</head><body>Words</body></html>".encode(), url="http://s/")
    assert page.canonical == "/a"
    assert [link.url for link in page.links if link.rel == "canonical"] == kept
