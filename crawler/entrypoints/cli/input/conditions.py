"""Options for conditions, wherever a command takes some."""

from typing import Annotated, Any

import typer

from crawler.errors import Invalid

All = Annotated[bool, typer.Option("--all", help="Told only if all of --tell hold for a page.")]
On = Annotated[str, typer.Option("--on", metavar="RE", help="With --tell: only pages whose URL it matches.")]


def conditions_of(tell: list[str] | None, *, all_hold: bool, on: str) -> dict[str, Any] | None:
    """What was asked, for a model to check; None: no conditions."""
    wanted = [one for one in tell or () if one]
    if not wanted:
        if all_hold or on:
            raise Invalid("--all and --on say more about conditions: write some with --tell.")
        return None
    return {"of": wanted, "match": "all" if all_hold else "any", "pattern": on}
