"""Help and usage errors answer at once: what a command needs to work is imported when it works."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from crawler.entrypoints import cli
from crawler.entrypoints.cli.app import SUBCOMMANDS
from crawler.entrypoints.cli.lazy_group import Subcommand

HEAVY = {"celery", "fastapi", "kombu", "pydantic_settings", "redis", "requests", "sqlalchemy", "structlog", "warcio"}
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
    assert not {"pydantic", "rich", "crawler.domain"} & imported_with("crawler.entrypoints.cli.app")


@pytest.mark.parametrize("one", SUBCOMMANDS, ids=lambda one: one.name)
def test_the_text_in_the_list_is_that_of_the_command(one: Subcommand) -> None:
    command = one.load()
    assert command.name == one.name
    assert command.get_short_help_str(80) == one.short_help
