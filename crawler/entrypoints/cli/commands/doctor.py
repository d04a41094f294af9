"""`crawler doctor`: diagnose servers, schema, browser, clock and settings, and say how to fix what is wrong.

Done in `entrypoints/cli/actions/doctor.py`.
"""

from typing import TYPE_CHECKING, Annotated

import typer

from crawler.lazy_module import LazyModule

if TYPE_CHECKING:
    from crawler.entrypoints.cli.actions import doctor as diagnosis
else:
    diagnosis = LazyModule("crawler.entrypoints.cli.actions.doctor")


def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Bring the database schema up to date.")] = False,
    new_secret_key: Annotated[
        bool, typer.Option("--new-secret-key", help="Encrypt secrets with this machine's key; the old one is lost.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for programs.")] = False,
) -> None:
    """Look at servers, schema, browser, clock and settings; say how to mend what is wrong."""
    if not diagnosis.print_diagnosis(fix=fix, new_secret_key=new_secret_key, as_json=as_json):
        raise typer.Exit(3)
