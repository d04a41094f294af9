"""A command line that cannot be understood: one sentence in our words, and what to do about it."""

from pathlib import Path

import pytest
import typer

from crawler.adapters.pages.export_files import Folder, ObjectFolder
from crawler.entrypoints.cli.app import cli
from crawler.entrypoints.cli.input.export_place import export_place
from crawler.entrypoints.cli.input.usage import complaint
from crawler.errors import Invalid


def told(*arguments: str) -> str:
    with pytest.raises(typer.TyperException) as wrong:
        cli(list(arguments), standalone_mode=False, prog_name="crawler")
    return complaint(wrong.value)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("run", "http://h.test/", "--max-pages", "many"), "--max-pages takes a whole number, not 'many'."),
        (("run", "http://h.test/", "--max-pages", "1.5"), "--max-pages takes a whole number, not '1.5'."),
        (("run", "http://h.test/", "--delay", "soon"), "--delay takes a number, not 'soon'."),
        (("run", "http://h.test/", "--workers", "0"), "--workers takes at least 1, not 0."),
        (("run", "http://h.test/", "--workers", "99"), "--workers takes at most 64, not 99."),
        (("run", "http://h.test/", "--include-mode", "x"), "--include-mode takes 'only' or 'prefer', not 'x'."),
        (("key", "create", "n", "--scope", "y"), "--scope takes 'read', 'write' or 'admin', not 'y'."),
        (("host", "delay", "h.test", "soon"), "SECONDS takes a number, not 'soon'."),
        (("run",), "URL is missing; 'crawler run -h' shows how it is written."),
        (("crawl", "cancel"), "CRAWL is missing; 'crawler crawl cancel -h' shows how it is written."),
        (
            ("run", "http://h.test/", "b"),
            "'b' is one argument more than this command takes; 'crawler run -h' shows how it is written.",
        ),
        (("run", "http://h.test/", "--nope"), "There is no option --nope; 'crawler run -h' lists those there are."),
        (("run", "http://h.test/", "--max-page", "3"), "There is no option --max-page; did you mean --max-pages?"),
        (("run", "http://h.test/", "--max-pages"), "--max-pages needs a value."),
        (("run", "http://h.test/", "--json=1"), "--json takes no value."),
        (("xyzzy",), "There is no command 'xyzzy'; 'crawler -h' lists those there are."),
        (("chnages",), "There is no command 'chnages'; did you mean 'crawler changes'?"),
        (("Run", "x"), "There is no command 'Run'; did you mean 'crawler run'?"),
        (("crawl", "stat"), "There is no command 'stat'; did you mean 'crawler crawl status'?"),
        (("schedule", "run"), "There is no command 'run'; did you mean 'crawler schedule run-now'?"),
        (("example.org/a",), "There is no command 'example.org/a'; did you mean 'crawler run example.org/a'?"),
        (("http://h.test",), "There is no command 'http://h.test'; did you mean 'crawler run http://h.test'?"),
    ],
)  # fmt: skip
def test_a_wrong_word_is_one_sentence(arguments: tuple[str, ...], sentence: str) -> None:
    assert told(*arguments) == sentence


def test_what_was_typed_has_no_power_over_the_terminal() -> None:
    assert "\x1b" not in told("run", "http://h.test/", "--max-pages", "\x1b[2J")
    assert "\x1b" not in told("\x1b[2J")


def test_a_directory_that_nobody_names_is_the_present_one_and_an_empty_name_is_refused() -> None:
    assert export_place(Folder(Path())) == Folder(Path())
    with pytest.raises(Invalid, match="has no name"):
        export_place(" ")


def test_exports_go_to_a_directory_or_to_object_storage() -> None:
    assert export_place("out/x") == Folder(Path("out/x"))
    for url in ("s3://bucket/folder", "file:///srv/exports"):
        assert export_place(url) == ObjectFolder(url)
    for url in ("ftp://host/x", "s3://key:secret@bucket/x", "https://host/x", "s3://"):
        with pytest.raises(Invalid, match="must look like s3://bucket/folder"):
            export_place(url)
