"""Advice of a language model: what it is shown, which answers count, and what it may keep back."""

from datetime import UTC, datetime
from typing import Any

import pytest

from crawler.domain.changes.advice import (
    Advice,
    AdviceWish,
    Advised,
    NoAdvice,
    digest_of,
    is_cut,
    is_whole,
    prompt_of,
    read_answer,
)
from crawler.domain.changes.page_digest import LineChange, PageDigest

PAGE = PageDigest("https://shop.example/terms", None, (LineChange(removed="30 days", added="14 days"),), 0)
SUMMARY: dict[str, Any] = {"changed_page_urls": [PAGE.url], "new_page_urls": [], "removed_page_urls": []}


def advice(*, matters: bool | None, page: PageDigest = PAGE) -> Advice:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return Advice(url=page.url, matters=matters, is_part=is_cut(page), prompt="0", model="m", at=now)


def test_the_question_holds_the_wish_and_the_lines_within_bounds() -> None:
    asked = prompt_of("refunds", PAGE)
    assert '"refunds"' in asked[1]["content"]
    assert '"30 days"' in asked[1]["content"]
    long = PAGE._replace(lines=tuple(LineChange(removed="r" * 9_000, added="a" * 9_000) for _ in range(500)))
    assert len(prompt_of("x" * 500, long)[1]["content"]) < 15_000
    assert digest_of("m", asked) == digest_of("m", prompt_of("refunds", PAGE))
    assert len({digest_of("m", asked), digest_of("n", asked), digest_of("m", prompt_of("fees", PAGE))}) == 3


@pytest.mark.parametrize(
    "said",
    [
        '{"summary": "Refunds got shorter.", "matters": true}',
        '<think>{"summary": "", "matters": 1}</think>```\n{"matters": true, "summary": "Refunds  got\\nshorter."}```',
    ],
)
def test_an_answer_is_read_wherever_it_stands(said: str) -> None:
    assert read_answer(said) == ("Refunds got shorter.", True)


@pytest.mark.parametrize(
    "said",
    [
        "", "yes", "{}", "[]", '{"summary": "", "matters": true}', '{"summary": "x", "matters": "true"}',
        '{"summary": 1, "matters": true}', '{"summary": "x"}', "{" * 50_000, '{"a": {"summary": "x", "matters": 1}}',
    ],
)  # fmt: skip
def test_nonsense_decides_nothing(said: str) -> None:
    with pytest.raises(NoAdvice):
        read_answer(said)


def test_it_silences_only_if_asked_to_and_only_what_it_has_seen_whole() -> None:
    asked, not_asked = AdviceWish(wish="x", may_silence=True), AdviceWish(wish="x")
    assert Advised(asked, (advice(matters=False),), is_whole=True).silences
    assert not Advised(not_asked, (advice(matters=False),), is_whole=True).silences
    assert not Advised(asked, (advice(matters=False),), is_whole=False).silences
    assert not Advised(asked, (advice(matters=True),), is_whole=True).silences
    assert is_whole(SUMMARY, [advice(matters=False)])
    assert not is_whole(SUMMARY, [])
    assert not is_whole(SUMMARY, [advice(matters=None)])
    others: tuple[dict[str, Any], ...] = (
        {"new_page_urls": ["x"]},
        {"watched": [{}]},
        {"by_hash": [{}]},
        {"template_changes": [{}]},
    )
    for further in others:
        assert not is_whole({**SUMMARY, **further}, [advice(matters=False)])


@pytest.mark.parametrize(
    "hidden",
    [
        PAGE._replace(more=1),
        PAGE._replace(lines=(LineChange(removed=None, added="dull " * 60),)),
        PAGE._replace(lines=tuple(LineChange(removed=None, added=f"dull {number}") for number in range(40))),
    ],
)
def test_a_page_that_hides_what_matters_behind_what_does_not_silences_nothing(hidden: PageDigest) -> None:
    assert is_whole(SUMMARY, [advice(matters=False)])
    assert not is_whole(SUMMARY, [advice(matters=False, page=hidden)])
