"""Each reason has words, and the words are a sentence that helps."""

import pytest

from crawler.domain.reason_words import MEANINGS, NAMES, meaning, name_of
from crawler.domain.reasons import Reason


def test_every_reason_has_a_meaning_and_no_other_has() -> None:
    assert set(MEANINGS) == set(Reason)
    assert len(set(MEANINGS.values())) == len(MEANINGS), "each its own"
    assert set(NAMES) == set(Reason)
    assert len(set(NAMES.values())) == len(NAMES)
    assert all(len(name) <= 25 for name in NAMES.values())
    assert (name_of("http_5xx"), name_of("made_up")) == ("server error (HTTP 5xx)", "made up")


@pytest.mark.parametrize("reason", Reason)
def test_a_meaning_is_one_sentence_that_says_what_it_is_and_what_to_do(reason: Reason) -> None:
    words = meaning(reason)
    assert words[0].isupper()
    assert words.endswith(".")
    assert ". " not in words, "one sentence"
    assert "; " in words or "," in words, "what it means, then what to do"
    assert len(words) <= 140
