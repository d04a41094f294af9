"""`crawler noise`: noise rules, the content that a project's comparisons ignore.

Decided in `handlers/changes/manage_noise.py`; what rules mean in `domain/noise/rules.py`.
"""

from typing import Annotated
from uuid import UUID

import typer

from crawler.entrypoints.cli.backend.naming import id_named, open_project
from crawler.entrypoints.cli.input.names import ProjectName
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import Invalid
from crawler.lazy_module import on_first_use

with on_first_use():
    import orjson
    from rich.text import Text

    from crawler.domain.noise.rules import NoiseRule, Origin, RuleKind
    from crawler.entrypoints.cli.screen.next_step import suggest
    from crawler.entrypoints.cli.screen.terminal import clean, console, print_rows


noise = typer.Typer(no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]
RuleId = Annotated[str, typer.Argument(metavar="RULE", help="The beginning of its id in 'crawler noise list'.")]
HEADINGS = ("rule", "what", "from", "state", "pages")
LEGEND = "pages: how many it kept quiet so far"


@noise.command("list")
def list_rules(project: ProjectName, as_json: AsJson = False) -> None:
    """A project's rules: those of people, then those learned from pages that were fetched twice."""
    with open_project(project) as (backend, project_id):
        rules = backend.list_noise(project_id)
    if as_json:
        shown = [rule.model_dump(mode="json") | {"described": rule.words, "problem": rule.problem} for rule in rules]
        echo(orjson.dumps({"rules": shown}, option=orjson.OPT_INDENT_2).decode())
        return
    if not rules:
        console().print("No rules yet; 'crawler noise add' writes one, scheduled crawls learn some.")
        return
    print_rows(console(), HEADINGS, map(_row, rules), right=("pages",))
    console().print(LEGEND, style="dim")


@noise.command()
def add(
    project: ProjectName,
    selector: Annotated[str | None, typer.Option(metavar="CSS", help="Leave out what it names.")] = None,
    regex: Annotated[str | None, typer.Option(metavar="RE", help="Leave out lines in which it is found.")] = None,
    numbers: Annotated[bool, typer.Option("--numbers", help="Other numbers are no change.")] = False,
    dates: Annotated[bool, typer.Option("--dates", help="Other dates and times are no change.")] = False,
) -> None:
    """Add rules; they hold from the next comparison on. 'crawler schedule backtest' tries them first."""
    asked = [(RuleKind.SELECTOR, selector), (RuleKind.REGEX, regex)]
    given = [(kind, value) for kind, value in asked if value is not None]
    given += [(kind, "") for kind, wanted in ((RuleKind.NUMBERS, numbers), (RuleKind.DATES, dates)) if wanted]
    if not given:
        raise Invalid("Say what to leave out: --selector, --regex, --numbers or --dates.")
    with open_project(project) as (backend, project_id):
        for kind, value in given:
            rule = backend.add_noise(project_id, kind, value)
            console().print(Text.assemble(f"{rule.id}  ", clean(rule.words)), soft_wrap=True)
    suggest("schedule", "backtest", project, to="which past crawls it would have kept quiet")


@noise.command()
def remove(project: ProjectName, rule: RuleId) -> None:
    """Remove a rule. What was learned may be learned again: 'disable' keeps it off."""
    with open_project(project) as (backend, project_id):
        backend.remove_noise(project_id, _named(rule, backend.list_noise(project_id)))
    console().print("Removed.")


@noise.command()
def enable(project: ProjectName, rule: RuleId) -> None:
    """Switch a rule on."""
    _switch(project, rule, enabled=True)


@noise.command()
def disable(project: ProjectName, rule: RuleId) -> None:
    """Switch a rule off; a learned one stays off."""
    _switch(project, rule, enabled=False)


def _switch(project: str, rule: str, *, enabled: bool) -> None:
    with open_project(project) as (backend, project_id):
        rule_id = _named(rule, backend.list_noise(project_id))
        switched = backend.switch_noise(project_id, rule_id, enabled=enabled)
    console().print(Text.assemble("On: " if switched.enabled else "Off: ", clean(switched.words)), soft_wrap=True)


def _named(rule: str, rules: list[NoiseRule]) -> UUID:
    return id_named(rule, "rule", "crawler noise list", rules)


def _row(rule: NoiseRule) -> list[str | Text]:
    source = "learned" if rule.origin is Origin.LEARNED else "you"
    words = f"{rule.words} (not used: {rule.problem})" if rule.problem else rule.words
    return [str(rule.id), clean(words), source, "on" if rule.enabled else "off", f"{rule.hits:,}"]
