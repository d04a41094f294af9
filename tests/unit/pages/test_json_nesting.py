import gc
import json
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.pages.json_nesting import DEEPEST, is_too_deep
from crawler.domain.pages.json_values import NoValues, json_lines


def nested(depth: int, inside: str = "") -> str:
    return "[" * depth + inside + "]" * depth


@pytest.mark.parametrize(
    "text",
    [
        nested(DEEPEST),
        "[" + ",".join([nested(DEEPEST - 1)] * 50) + "]",
        json.dumps(["[" * 1000, {"}{" * 500: '"[{\\' * 500}]),
        '{"a": ' * DEEPEST + '"' + "[" * 500 + '"' + "}" * DEEPEST,
    ],
)
def test_what_a_program_writes_is_not_too_deep(text: str) -> None:
    json.loads(text)
    assert not is_too_deep(text)


@pytest.mark.parametrize(
    "text",
    [
        nested(DEEPEST + 1),
        "[" * 300,
        '{"a": ' * 300,
        '["]]]]", ' * 300,
        '["\\"]]]]", ' * 300,
        '[{"a": "}]"}, ' * 300,
        "[" * 300 + '"' + "]" * 300,
    ],
)
def test_what_is_nested_deeper_is_told_before_it_is_read(text: str) -> None:
    assert is_too_deep(text)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 2_000_000,
        "[" * 300 + '"' * 2_000_000,
        "[" * 300 + '"' + "\\" * 2_000_000,
        "[" * 170 + '"' + '[\\"' * 600_000,
        ("[" * 280 + '"') * 7000,
        "[" + ",".join(["[]"] * 660_000) + "]",
    ],
)
def test_it_takes_linear_time(text: str) -> None:
    started = process_time()
    is_too_deep(text)
    assert process_time() - started < 2


_JSON: st.SearchStrategy[Any] = st.recursive(
    st.text('[]{}\\",: a'), lambda one: st.lists(one) | st.dictionaries(st.text('[]{}\\"'), one)
)


@given(_JSON, st.integers(190, 210))
def test_brackets_of_strings_are_not_counted(value: Any, depth: int) -> None:
    levels = _levels(value)
    assert is_too_deep(nested(depth, json.dumps(value))) == (depth + levels > DEEPEST)


def _levels(value: Any) -> int:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inside is None else 1 + max(map(_levels, inside), default=0)


def test_garbage_keeps_its_finalizers_while_deep_json_is_read() -> None:
    """Collecting garbage at the limit of calls would end finalizers with a RecursionError."""
    lost: list[Any] = []

    def collected(phase: str, _: dict[str, int]) -> None:
        try:
            _call(100)
        except RecursionError:
            lost.append(phase)

    gc.callbacks.append(collected)
    before = gc.get_threshold()
    gc.set_threshold(20)
    try:
        with pytest.raises(NoValues):
            json_lines(b"[" * 100_000)
    finally:
        gc.set_threshold(*before)
        gc.callbacks.remove(collected)
    assert not lost


def _call(times: int) -> None:
    if times:
        _call(times - 1)
