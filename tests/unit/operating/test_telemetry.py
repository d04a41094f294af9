import time

import pytest

from crawler.redaction import LONGEST_VALUE, redact


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("redis://:hunter2@host:6379/0", "redis://…@host:6379/0"),
        ("redis://a:se@cret@host/0", "redis://…@host/0"),
        ("postgresql://me:pw@db/x", "postgresql://…@db/x"),
        ("https://h/?api_key=abc&page=2", "https://h/?api_key=…&page=2"),
        ("https://h/?page=2&access_token=abc", "https://h/?page=2&access_token=…"),
        ("https://h/?page=2", "https://h/?page=2"),
        ("title \x1b[2J", "title ?[2J"),
        ("title \x9b2J\x9d0;x\x9c", "title ?2J?0;x?"),
        ("\u202egpj.exe \u2066x", "?gpj.exe ?x"),
    ],
)
def test_logs_show_no_secrets_and_steer_no_terminal(written: str, shown: str) -> None:
    assert redact(written) == shown


@pytest.mark.parametrize("word", ["a", "?", "&token", "a://", "?key=", "@", "key", "\x1b"])
def test_a_line_made_to_be_long_costs_no_time_and_is_cut(word: str) -> None:
    began = time.process_time()
    assert len(redact(word * 200_000)) <= LONGEST_VALUE + 1
    assert time.process_time() - began < 1
