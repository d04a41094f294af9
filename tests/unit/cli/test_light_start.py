"""Help and usage errors answer at once: what a command needs to work is imported when it works."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.entrypoints import cli
from crawler.entrypoints.cli.app import SUBCOMMANDS
from crawler.entrypoints.cli.lazy_group import Subcommand

HEAVY = {
    "celery", "fastapi", "kombu", "lxml", "psycopg2", "pydantic", "pydantic_settings", "redis", "requests", "rich",
    "sqlalchemy", "structlog", "warcio", "yaml",
}  # fmt: skip
_IMPORTED = "import json, sys; from importlib import import_module; [import_module(name) for name in sys.argv[1:]]; "


def imported_with(*modules: str) -> set[str]:
    print_them = _IMPORTED + "print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", print_them, *modules], check=True, capture_output=True, text=True)
    return set(json.loads(done.stdout))


def test_no_command_imports_servers_libraries_for_its_help() -> None:
    names = [path.stem for path in Path(cli.__file__).parent.glob("commands/*.py") if path.stem != "__init__"]
    assert names
    found = imported_with(
        "crawler.entrypoints.cli.app", *(f"crawler.entrypoints.cli.commands.{name}" for name in names)
    )
    assert not found & HEAVY


def test_the_list_of_commands_imports_none_of_them() -> None:
    assert not {*HEAVY, "crawler.domain"} & imported_with("crawler.entrypoints.cli", "crawler.entrypoints.cli.app")


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    "typed",
    [
        "--help",
        "--version",
        "rum",
        "run --help",
        "crawl",
        "crawl --nosuch",
        "schedule set --help",
        "queue add --nosuch x",
    ],
)
def test_help_and_mistyped_commands_load_no_more_than_they_show(typed: str) -> None:
    watched = (
        "import atexit, json, sys; atexit.register(lambda: print(json.dumps(list(sys.modules)), file=sys.stderr)); "
        "from crawler.entrypoints.cli.start import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", watched, *typed.split()], check=False, capture_output=True, text=True)
    assert not HEAVY & set(json.loads(done.stderr.splitlines()[-1]))


def test_what_is_imported_for_later_is_the_real_thing_when_it_is_used() -> None:
    later = (
        "import sys; from crawler.lazy_module import on_first_use\n"
        "before = set(sys.modules)\n"  # who measures coverage has imported some of them
        "with on_first_use():\n"
        "    import colorsys\n"
        "    from fractions import Fraction\n"
        "    from html.entities import codepoint2name\n"
        "assert not {'colorsys', 'fractions', 'html.entities'} & (set(sys.modules) - before)\n"
        "assert isinstance(Fraction(1, 2) + Fraction(1, 2), Fraction)\n"
        "assert colorsys.rgb_to_hsv(0, 0, 0) == (0, 0, 0) and codepoint2name[38] == 'amp'\n"
    )
    subprocess.run([sys.executable, "-c", later], check=True)


@pytest.mark.parametrize("one", SUBCOMMANDS, ids=lambda one: one.name)
def test_the_text_in_the_list_is_that_of_the_command(one: Subcommand) -> None:
    command = one.load()
    assert command.name == one.name
    assert command.get_short_help_str(80) == one.short_help


def test_a_crawl_in_the_terminal_waits_for_nothing_that_only_other_commands_need() -> None:
    found = imported_with("workers.warm", "crawler.entrypoints.cli.watching.watch_crawl")
    assert "sqlalchemy" in found
    assert not found & {
        "requests",
        "bs4",
        "crawler.client",
        "crawler.entrypoints.cli.backend.local",
        "crawler.domain.changes.digest",
    }


@pytest.mark.slow
def test_a_comparison_waits_for_nothing_that_only_rules_with_selectors_need() -> None:
    assert not imported_with("crawler.bootstrap.changes", "crawler.bootstrap.watching") & {"bs4", "soupsieve"}


@pytest.mark.slow
def test_workers_import_nothing_only_because_it_is_installed() -> None:
    """Libraries offer more where they find others: tracebacks in colour, YAML, metrics. Each costs every start."""
    prepared = (
        "import json, sys, workers.warm; workers.warm.prepare(); found = list(sys.modules); "
        "import rich.pretty, yaml; print(json.dumps(found))"
    )
    done = subprocess.run([sys.executable, "-c", prepared], check=True, capture_output=True, text=True)
    found = set(json.loads(done.stdout))
    assert "structlog" in found
    assert not found & {"attr", "opentelemetry", "pygments", "rich", "yaml"}
