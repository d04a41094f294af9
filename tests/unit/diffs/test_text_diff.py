"""What changed between two texts, exactly where that can be had in time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.diffs.text_diff import diff_lines

lines = st.lists(st.sampled_from(["a", "b", "c", "", "- x", "+ y"]), max_size=12)


def patched(old: list[str], unified: str) -> list[str]:
    """What `patch` would make of it."""
    result, position = [], 0
    for line in unified.splitlines():
        if line.startswith("@@"):
            start = int(line.split()[1].split(",")[0][1:])
            length = line.split()[1].partition(",")[2]
            first = start if length == "0" else start - 1
            result += old[position:first]
            position = first
        elif line.startswith("+"):
            result.append(line[1:])
        elif line.startswith("-"):
            position += 1
        else:
            result.append(line[1:])
            position += 1
    return result + old[position:]


@given(lines, lines)
def test_the_diff_leads_from_one_text_to_the_other(old: list[str], new: list[str]) -> None:
    before, after = "\n".join(old), "\n".join(new)
    found = diff_lines(before, after)
    assert found.exact
    assert patched(before.splitlines(), found.unified) == after.splitlines()
    assert found.added - found.removed == len(after.splitlines()) - len(before.splitlines())


@given(lines)
def test_nothing_changed_says_nothing(text: list[str]) -> None:
    same = "\n".join(text)
    assert diff_lines(same, same) == (0, 0, "", True)


@pytest.mark.parametrize("size", [3000, 20_000])
def test_texts_that_share_nothing_are_told_in_time(size: int) -> None:
    began = time.process_time()
    found = diff_lines("\n".join(f"a{n}" for n in range(size)), "\n".join(f"b{n}" for n in range(size)))
    assert (found.added, found.removed, found.exact) == (size, size, False)
    assert time.process_time() - began < 2
