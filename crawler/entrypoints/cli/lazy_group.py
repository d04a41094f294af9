"""The root of the command line, which imports a subcommand when it is called: all of them take a second."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import typer.main
from typer.core import TyperCommand, TyperGroup

from crawler.entrypoints.cli.root_command import make_cli
from crawler.lazy_module import load

WHOLE = 1000
"""Characters of a help text that are shown in a list: none is longer."""


class _Light:
    """Switches that are not given are False, not None: Typer loads Pydantic to check what is no bool."""

    def get_params(self, ctx: Any) -> Any:
        params = super().get_params(ctx)  # type: ignore[misc]
        for one in params:
            if one.default is None and getattr(one, "is_bool_flag", False) and not one.secondary_opts:
                one.default = False
        return params


class LightGroup(_Light, TyperGroup):
    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands with their whole sentences, over several lines where these are long."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, one.get_short_help_str(WHOLE)) for name, one in commands if one and not one.hidden]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)


class LightCommand(_Light, TyperCommand):
    pass


class Subcommand(NamedTuple):
    name: str
    place: str
    """`module:name` of a function, or of a Typer group of further commands, in `crawler.entrypoints.cli.commands`."""
    short_help: str
    """Must fit beside the names in the list of commands; the command's own help says more."""

    def load(self) -> Any:
        module, _, attribute = self.place.partition(":")
        found = getattr(load(f"crawler.entrypoints.cli.commands.{module}"), attribute)
        cli = make_cli()
        if isinstance(found, typer.Typer):
            for command in found.registered_commands:
                command.cls = LightCommand
            cli.add_typer(found, name=self.name, help=self.short_help, cls=LightGroup)
        else:
            cli.command(self.name, short_help=self.short_help, cls=LightCommand)(found)
        return typer.main.get_group(cli).commands[self.name]


def lazy_group(sections: Mapping[str, Sequence[Subcommand]]) -> type[TyperGroup]:
    """A class of groups with these subcommands, listed by section.

    Help, completion and suggestions only need their names and texts.
    """
    by_name = {one.name: one for section in sections.values() for one in section}
    longest = max(map(len, by_name))

    class LazyGroup(LightGroup):
        def __init__(self, **given: Any) -> None:
            named = {one.name: TyperCommand(one.name, short_help=one.short_help) for one in by_name.values()}
            super().__init__(**{**given, "commands": named})

        def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - Typer calls it so
            for title, section in sections.items():
                with formatter.section(title):
                    formatter.write_dl([(one.name.ljust(longest), one.short_help) for one in section])

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, found, rest = super().resolve_command(ctx, args)
            return name, by_name[name].load() if name in by_name else found, rest

    return LazyGroup
