"""`crawler watch-rule`: which parts and values of pages count, and when a change of them is told.

Decided in `handlers/watching`; what rules mean in `domain/watching/rules.py`.
"""

from typing import Annotated, Any
from uuid import UUID

import typer

from crawler.domain.notices.schedule_choices import MOST_CRAWLS
from crawler.entrypoints.cli.backend.naming import id_named, open_project
from crawler.entrypoints.cli.input.conditions import All
from crawler.entrypoints.cli.input.names import ProjectName
from crawler.entrypoints.cli.screen.streams import echo
from crawler.lazy_module import on_first_use

with on_first_use():
    import orjson
    from rich.text import Text

    from crawler.domain.notices.backtests import TrialRules
    from crawler.domain.watching.previews import PagePreview, WatchPreview
    from crawler.domain.watching.rules import TRIED, InvalidWatch, WatchOrder, WatchRule, read_order
    from crawler.entrypoints.cli.screen.stderr import Stderr
    from crawler.entrypoints.cli.screen.terminal import clean, console, moment, print_rows
    from crawler.entrypoints.cli.screen.terminal_text import count

watching = typer.Typer(no_args_is_help=True)

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]
RuleId = Annotated[
    str, typer.Argument(metavar="RULE", help="Its name, or the beginning of its id in 'crawler watch-rule list'.")
]
Pattern = Annotated[str, typer.Option(metavar="RE", help="Pages whose URL it matches; all unless given.")]
Only = Annotated[list[str] | None, typer.Option("--only", metavar="CSS", help="Only this part counts; or xpath:….")]
Fields = Annotated[
    list[str] | None,
    typer.Option("--field", metavar="NAME=WHAT", help="A value: price='price .total', link=a.buy@href."),
]
Products = Annotated[bool, typer.Option("--products", help="Products that pages declare: name, price, availability.")]
Tell = Annotated[
    list[str] | None, typer.Option("--tell", metavar="WORDS", help="Told if: 'price below 100', 'contains sale', ….")
]
Name = Annotated[str, typer.Option(help="A name for people.")]
Priority = Annotated[int, typer.Option(help="Of rules that say the same thing the highest counts.")]
HEADINGS = ("rule", "what", "priority", "state")


@watching.command("list")
def list_rules(project: ProjectName, as_json: AsJson = False) -> None:
    """A project's watch rules, the most important first."""
    with open_project(project) as (backend, project_id):
        rules = backend.watching.list_rules(project_id)
    if as_json:
        shown = [rule.model_dump(mode="json") | {"described": rule.words} for rule in rules]
        echo(orjson.dumps({"rules": shown}, option=orjson.OPT_INDENT_2).decode())
        return
    if not rules:
        console().print("No rules yet: all of every page counts. 'crawler watch-rule add' writes one.")
        return
    print_rows(console(), HEADINGS, map(_row, rules), right=("priority",))


@watching.command()
def add(
    project: ProjectName,
    pattern: Pattern = "",
    only: Only = None,
    field: Fields = None,
    products: Products = False,
    tell: Tell = None,
    all_hold: All = False,
    name: Name = "",
    priority: Priority = 0,
) -> None:
    """Add a rule; it holds from the next crawl on. 'preview' and 'backtest' take the same options and keep nothing."""
    order = _order(pattern, only, field, products, tell, all_hold).model_copy(
        update={"name": name, "priority": priority}
    )
    with open_project(project) as (backend, project_id):
        rule = backend.watching.add(project_id, read_order(order.model_dump()))
    console().print(Text.assemble(f"{rule.id}  ", clean(rule.words)), soft_wrap=True)


@watching.command()
def preview(
    project: ProjectName,
    pattern: Pattern = "",
    only: Only = None,
    field: Fields = None,
    products: Products = False,
    as_json: AsJson = False,
) -> None:
    """What a rule finds on pages of the newest crawl."""
    order = _order(pattern, only, field, products)
    with open_project(project) as (backend, project_id), Stderr().status("Reading stored pages …"):
        found = backend.watching.preview(project_id, order)
    if as_json:
        echo(orjson.dumps(found.model_dump(mode="json"), option=orjson.OPT_INDENT_2).decode())
        return
    _show(found)


@watching.command()
def backtest(
    project: ProjectName,
    pattern: Pattern = "",
    only: Only = None,
    field: Fields = None,
    products: Products = False,
    tell: Tell = None,
    all_hold: All = False,
    crawls: Annotated[int, typer.Option(min=1, max=MOST_CRAWLS, help="So many of the newest.")] = 40,
    as_json: AsJson = False,
) -> None:
    """Which past crawls this rule would have told, beside the rules there are. Nothing is changed or sent."""
    order = _order(pattern, only, field, products, tell, all_hold)
    with open_project(project) as (backend, project_id), Stderr().status("Comparing past crawls again …"):
        trials = backend.backtest(project_id, TrialRules(watch=order, crawls=crawls))
    if as_json:
        shown = {"crawls": [trial.model_dump(mode="json") for trial in trials]}
        echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
        return
    by_it = ((trial, [one for one in trial.now.reasons if one.rule == str(TRIED)]) for trial in trials)
    told = [(trial, reasons) for trial, reasons in by_it if reasons]
    console().print(f"Would have told {len(told)} of the last {count(len(trials), 'crawl')}{':' if told else '.'}")
    for trial, reasons in told:
        for reason in reasons:
            console().print(
                Text.assemble(f"{moment(trial.completed_at)}  ", clean(reason.url), "  ", clean(reason.why)),
                soft_wrap=True,
            )


@watching.command()
def pick(
    project: ProjectName,
    url: Annotated[str, typer.Argument(metavar="URL", help="A page that is stored.")],
    text: Annotated[str, typer.Option(metavar="TEXT", help="What stands in the element.")] = "",
    selector: Annotated[str, typer.Option(metavar="SELECTOR", help="Show what this one names.")] = "",
    as_json: AsJson = False,
) -> None:
    """A selector of an element of a stored page, and what it named in the page's last ten versions."""
    with open_project(project) as (backend, project_id):
        found = backend.watching.pick(project_id, url, text=text, selector=selector)
    if as_json:
        echo(found.model_dump_json(indent=2))
        return
    screen = console()
    screen.print(clean(found.selector), soft_wrap=True)
    if found.alike:
        screen.print(Text.assemble("All that are like it: ", clean(found.alike)), soft_wrap=True)
    for one in found.versions:
        said = one.note or f"{count(one.count, 'element')}{': ' if one.texts else ''}{' | '.join(one.texts)}"
        screen.print(Text.assemble(f"{moment(one.fetched_at)}  ", clean(said)), soft_wrap=True)


@watching.command()
def remove(project: ProjectName, rule: RuleId) -> None:
    """Remove a rule."""
    with open_project(project) as (backend, project_id):
        backend.watching.remove(project_id, rule_named(rule, backend.watching.list_rules(project_id)))
    console().print("Removed.")


@watching.command()
def enable(project: ProjectName, rule: RuleId) -> None:
    """Switch a rule on."""
    _switch(project, rule, enabled=True)


@watching.command()
def disable(project: ProjectName, rule: RuleId) -> None:
    """Switch a rule off."""
    _switch(project, rule, enabled=False)


def _switch(project: str, rule: str, *, enabled: bool) -> None:
    with open_project(project) as (backend, project_id):
        rule_id = rule_named(rule, backend.watching.list_rules(project_id))
        switched = backend.watching.set_enabled(project_id, rule_id, enabled=enabled)
    console().print(Text.assemble("On: " if switched.enabled else "Off: ", clean(switched.words)), soft_wrap=True)


def rule_named(rule: str, rules: list[WatchRule]) -> UUID:
    return id_named(rule, "watch rule", "crawler watch-rule list", rules)


def _order(
    pattern: str,
    only: list[str] | None,
    fields: list[str] | None,
    products: bool,
    tell: list[str] | None = None,
    all_hold: bool = False,
) -> WatchOrder:
    given: dict[str, Any] = {"pattern": pattern, "watch": only or (), "products": products, "fields": {}}
    for field in fields or ():
        name, sign, what = field.partition("=")
        if not sign:
            raise InvalidWatch("A field is written NAME=WHAT, such as price='price .total'.")
        given["fields"][name.strip()] = what.strip()
    if tell:
        given["tell"] = {"match": "all" if all_hold else "any", "of": tell}
    return read_order(given)


def _row(rule: WatchRule) -> list[str | Text]:
    words = f"{rule.name}: {rule.words}" if rule.name else rule.words
    return [str(rule.id), clean(words), str(rule.priority), "on" if rule.enabled else "off"]


def _show(found: WatchPreview) -> None:
    screen = console()
    screen.print(f"{count(found.matching_pages, 'page')} of the newest crawl match; the first {len(found.pages)}:")
    for page in found.pages:
        screen.print(Text.assemble("  ", clean(page.url), f"  {_parts(page)}"), soft_wrap=True)
        for field in page.fields:
            said = field.value if field.found and field.value is not None else "not found"
            problem = f" ({field.problem})" if field.problem else ""
            screen.print(Text.assemble(f"    {field.field}: ", clean(f"{said}{problem}")), soft_wrap=True)
    for warning in found.warnings:
        screen.print(clean(warning), style="yellow")


def _parts(page: PagePreview) -> str:
    if page.note:
        return page.note
    return f"{count(page.parts, 'part')}, {page.share:.0%} of its words" if page.parts else ""
