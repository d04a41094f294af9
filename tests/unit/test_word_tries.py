"""Lists of words as expressions that read each letter once."""

import random
import re

import pytest

from crawler.domain.noise.moments import _NUMBERS as MONTHS
from crawler.domain.word_tries import one_of


@pytest.mark.parametrize("words", [["may", "mayo", "m", "mai", "don't"], list(MONTHS)], ids=["few", "months"])
def test_they_find_what_a_list_of_the_words_finds_the_longest_first(words: list[str]) -> None:
    listed = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    chosen = random.Random(1)
    after = [*words, "", " ", "x", "7", ".", "M", "ſ", "İ"]
    texts = ["".join(chosen.choices(after, k=6)) for _ in range(2_000)]
    for behind in ("", r"o?\b", r"\.?\s"):
        old, new = (
            re.compile(rf"(?:{listed}){behind}", re.IGNORECASE),
            re.compile(one_of(words) + behind, re.IGNORECASE),
        )
        assert [old.findall(text) for text in texts] == [new.findall(text) for text in texts]
