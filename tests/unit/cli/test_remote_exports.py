"""Pages of an export that come in pieces from a service, also from one that lies."""

import pytest

from crawler.client import NotAService
from crawler.entrypoints.cli.backend.remote_exports import _lines, _page


def test_lines_are_put_together_from_pieces() -> None:
    assert list(_lines([b"a", b"b\nc\n", b"\n", b"d", b"\n"])) == [b"ab", b"c", b"", b"d"]


def test_a_line_without_end_is_not_held_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.entrypoints.cli.backend.remote_exports.LONGEST_LINE", 100)
    with pytest.raises(NotAService, match="more than 100 bytes"):
        list(_lines(b"aaaa" for _ in range(1000)))


@pytest.mark.parametrize("line", [b"", b"5", b"{}", b'{"page_id": 5}', b'{"page_id": "x"}', b"[" * 99_999])
def test_what_is_no_page_is_told(line: bytes) -> None:
    with pytest.raises(NotAService, match="no page"):
        _page(line)
