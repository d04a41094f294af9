"""The root of the command line, which imports a subcommand when it is called: all of them take a second."""

from typing import Any, NamedTuple

import typer.main
from typer.core import TyperCommand, TyperGroup

from crawler.entrypoints.cli.root_command import make_cli
from crawler.lazy_module import load


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
            cli.add_typer(found, name=self.name, help=self.short_help)
        else:
            cli.command(self.name, short_help=self.short_help)(found)
        return typer.main.get_group(cli).commands[self.name]


def lazy_group(*subcommands: Subcommand) -> type[TyperGroup]:
    """A class of groups with these subcommands. Help, completion and suggestions only need their names and texts."""
    by_name = {one.name: one for one in subcommands}

    class LazyGroup(TyperGroup):
        def __init__(self, **given: Any) -> None:
            named = {one.name: TyperCommand(one.name, short_help=one.short_help) for one in subcommands}
            super().__init__(**{**given, "commands": named})

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            name, found, rest = super().resolve_command(ctx, args)
            return name, by_name[name].load() if name in by_name else found, rest

    return LazyGroup
