"""Usage errors of the command line as one sentence that says what to do.

The messages of Typer and its validators take three lines and use their own terms.
"""

import re
from difflib import get_close_matches
from typing import Any

import typer

HELP_WANTED = "NoArgsIsHelpError"
"""Not an error: a command group without a subcommand shows its help."""

_QUOTED = re.compile(r"'([^']*)'")
_IN_BRACKETS = re.compile(r"\((.*)\)")
_ADDRESS = re.compile(r"https?://[!-~]+|[\w-]+(\.[\w-]+)+(:\d+)?([/?#][!-~]*)?", re.ASCII).fullmatch
_KINDS = {
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_parsing": "a number",
    "bool_parsing": "yes or no",
}


def complaint(wrong: typer.TyperException) -> str:
    """The message for a usage error. Kinds are told apart by class name, because Typer's classes are not public."""
    told = {
        "BadParameter": _bad_value,
        "MissingParameter": _missing,
        "NoSuchOption": _no_option,
        "BadOptionUsage": _bad_option,
    }.get(type(wrong).__name__, _other)
    return told(wrong)


def _bad_value(wrong: Any) -> str:
    name, cause = _name(wrong.param), wrong.__cause__
    if type(cause).__name__ != "ValidationError":  # Pydantic's, whose import would cost more than all else here
        return f"{name} is not valid: {wrong.message}"
    first: Any = cause.errors(include_url=False)[0]
    kind, given = first["type"], first["input"]
    limits = first.get("ctx", {})
    if kind in _KINDS:
        return f"{name} takes {_KINDS[kind]}, not {given!r}."
    if "ge" in limits:
        return f"{name} takes at least {limits['ge']}, not {given}."
    if "le" in limits:
        return f"{name} takes at most {limits['le']}, not {given}."
    if " is not one of " in first["msg"]:
        return f"{name} takes {_any_of(first['msg'].partition(' is not one of ')[2])}, not {given!r}."
    return f"{name} is not valid: {first['msg'].removeprefix('Value error, ').rstrip('.')}."


def _any_of(listed: str) -> str:
    *others, last = (f"'{word}'" for word in _QUOTED.findall(listed))
    return f"{', '.join(others)} or {last}" if others else last


def _missing(wrong: Any) -> str:
    return f"{_name(wrong.param)} is missing; {_help(wrong)} shows how it is written."


def _no_option(wrong: Any) -> str:
    if wrong.possibilities:
        return (
            f"There is no option {_shown(wrong.option_name)}; did you mean {' or '.join(sorted(wrong.possibilities))}?"
        )
    return f"There is no option {_shown(wrong.option_name)}; {_help(wrong)} lists those there are."


def _bad_option(wrong: Any) -> str:
    takes_none = "does not take" in wrong.message
    return f"{_shown(wrong.option_name)} {'takes no value' if takes_none else 'needs a value'}."


def _other(wrong: Any) -> str:
    message = str(wrong.message)
    if message.startswith("No such command"):
        quoted = _QUOTED.search(message)
        return (
            _no_command(wrong, quoted.group(1)) if quoted else f"There is no such command; {_help(wrong)} lists them."
        )
    if message.startswith("Got unexpected extra argument"):
        extra = _IN_BRACKETS.search(message.partition("argument(s)")[2] or message)
        said = repr(extra.group(1) if extra else message)
        return f"{said} is one argument more than this command takes; {_help(wrong)} shows how it is written."
    return f"{_shown(message).rstrip('.')}."


def _no_command(wrong: Any, typed: str) -> str:
    there_is_none = f"There is no command {typed!r};"
    path = wrong.ctx.command_path if wrong.ctx else "crawler"
    if _ADDRESS(typed) and " " not in path:
        return f"{there_is_none} did you mean 'crawler run {typed}'?"
    meant = " or ".join(f"'{path} {name}'" for name in _similar(typed.lower(), wrong.ctx))
    return (
        f"{there_is_none} did you mean {meant}?" if meant else f"{there_is_none} {_help(wrong)} lists those there are."
    )


def _similar(typed: str, ctx: Any) -> list[str]:
    names = ctx.command.list_commands(ctx) if ctx else []
    begin_so = [name for name in names if name.startswith(typed)]
    return begin_so[:3] or get_close_matches(typed, names, 2)


def _name(param: Any) -> str:
    if param is None:
        return "A value"
    if param.param_type_name == "option":
        return str(max(param.opts, key=len))
    return str(param.metavar or param.name).upper()


def _help(wrong: Any) -> str:
    """The command that shows the help of the mistyped command."""
    path = wrong.ctx.command_path if wrong.ctx else "crawler"
    return f"'{path} -h'"


def _shown(text: str) -> str:
    """The text as typed; with control characters it is escaped."""
    return text if text.isprintable() else repr(text)
