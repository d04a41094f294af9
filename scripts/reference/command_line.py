"""Reference table: every command with its arguments and options."""

import inspect
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

from crawler.entrypoints.cli.app import SUBCOMMANDS
from scripts.reference.text import prose, table


class Command(NamedTuple):
    path: str
    command: Any

    @property
    def options(self) -> set[str]:
        return {name for param in self.command.params for name in (*param.opts, *param.secondary_opts)}


@cache
def commands() -> list[Command]:
    """Every command except groups, as it is typed."""

    def below(path: str, command: Any) -> Iterator[Command]:
        if not hasattr(command, "commands"):
            yield Command(path, command)
        for name, inner in getattr(command, "commands", {}).items():
            yield from below(f"{path} {name}", inner)

    return [found for one in SUBCOMMANDS for found in below(f"crawler {one.name}", one.load())]


def command_list() -> str:
    return "\n".join(_described(command) for command in commands())


def _described(command: Command) -> str:
    arguments = [param for param in command.command.params if param.param_type_name == "argument"]
    options = [param for param in command.command.params if param.param_type_name == "option" and not param.hidden]
    words = inspect.cleandoc(command.command.help or "").replace("\b", "").replace("\f", "")
    usage = " ".join([command.path, *("[OPTIONS]" for _ in options[:1]), *map(_placeholder, arguments)])
    parts = [f"### {command.path}\n", f"```text\n{usage}\n```\n", f"{prose(words)}\n"]
    rows = [(f"`{_placeholder(one)}`", "", prose(one.help or "")) for one in arguments]
    rows += [(_option_names(one), _option_default(one), prose(one.help or "")) for one in options]
    if rows:
        parts.append(table(("argument or option", "default", "meaning"), rows))
    return "\n".join(parts)


def _placeholder(param: Any) -> str:
    name = str(param.metavar or param.name.upper())
    return name if param.required else f"[{name}]"


def _option_names(param: Any) -> str:
    names = ", ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))
    return names if param.is_flag else f"{names} `{param.metavar or _choices(param)}`"


def _choices(param: Any) -> str:
    kind = param.type_descriptor.annotation
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "|".join(str(one.value) for one in kind)
    return "N" if kind in (int, float) else "VALUE"


def _option_default(param: Any) -> str:
    value = getattr(param.default, "value", param.default)
    if value is None or value is False or value in ((), [], ""):
        return ""
    return ", ".join(f"`{one}`" for one in (value if isinstance(value, list | tuple) else [value]))
