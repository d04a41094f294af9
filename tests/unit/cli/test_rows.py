"""Tables on a terminal fit it: ids are as long as tells them apart, long columns are cut; pipes get all of it."""

import io
from uuid import UUID

import pytest
from rich.console import Console

from crawler.entrypoints.cli.screen.terminal import print_rows, print_sentence

IDS = [UUID("019a8d31-7f3a-7c11-8000-00000000000a"), UUID("019a8d31-7f3a-7c11-9000-00000000000b")]
LATER = UUID("019a8d32-0000-7c11-8000-00000000000c")
URL = "https://shop.example/a/very/long/way/to/the/page/of/winter/coats/and/other/things/that/are/warm"


def shown(ids: list[UUID], *, terminal: bool, width: int = 100) -> list[str]:
    out = io.StringIO()
    screen = Console(file=out, width=width if terminal else 10_000, force_terminal=terminal, color_system=None)
    rows = [(one, "completed", "2026-11-16 19:30", URL) for one in ids]
    print_rows(screen, ("id", "status", "started", "website"), rows, cut=("website",))
    return [line.rstrip() for line in out.getvalue().splitlines()]


@pytest.mark.parametrize("width", [80, 100])
def test_a_row_is_a_line_of_a_terminal(width: int) -> None:
    head, *rows = shown([IDS[0], LATER], terminal=True, width=width)
    assert head.split() == ["id", "status", "started", "website"]
    assert [row.split()[0] for row in rows] == ["019a8d31-7f3a", "019a8d32-0000"]
    assert all(len(row) <= width and "…" in row and row.endswith("are/warm") for row in rows)


def test_ids_are_as_long_as_tells_them_apart() -> None:
    _, *rows = shown(IDS, terminal=True)
    assert [row.split()[0] for row in rows] == ["019a8d31-7f3a-7c11-8", "019a8d31-7f3a-7c11-9"]


def test_a_pipe_gets_everything_whole() -> None:
    _, *rows = shown(IDS, terminal=False)
    assert [(row.split()[0], row.split()[-1]) for row in rows] == [(str(one), URL) for one in IDS]


def test_a_sentence_breaks_between_words_on_a_terminal_and_never_in_a_pipe() -> None:
    words = "No mail will be sent: 'crawler up' has no mail server; it begins with http://mail.example/one"
    for is_terminal, lines in ((True, 3), (False, 1)):
        screen = Console(file=io.StringIO(), width=40, force_terminal=is_terminal, no_color=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COLUMNS", "40")
            print_sentence(screen, words)
        told = screen.file.getvalue().splitlines()  # type: ignore[attr-defined]
        assert (len(told), " ".join(told)) == (lines, words)
