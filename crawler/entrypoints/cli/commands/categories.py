"""`crawler category`: selectors that extract fields from pages of the acquisition queue.

Decided in `handlers/acquisition/manage_categories.py`; the form of selectors in `domain/acquisition/selectors.py`.
"""

import sys
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from crawler.entrypoints.cli.backend.opening import open_backend
from crawler.entrypoints.cli.screen.streams import echo
from crawler.errors import Invalid
from crawler.lazy_module import on_first_use

with on_first_use():
    import orjson
    import yaml
    from rich.text import Text

    from crawler.domain.acquisition.categories import CategoryShown, DryRun
    from crawler.domain.acquisition.field_fill import FieldFill
    from crawler.entrypoints.cli.screen.terminal import clean, console, print_pairs, print_rows


categories = typer.Typer(no_args_is_help=True)

LARGEST_FILE = 1024 * 1024
SHOWN_TEXT = 2000
HEADINGS = ("category", "entries", "extractions", "fields", "state")

AsJson = Annotated[bool, typer.Option("--json", help="JSON for programs.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="As entries name it.")]
File = Annotated[
    Path | None, typer.Argument(metavar="[FILE]", help="YAML or JSON with include, exclude and fields; - is stdin.")
]
Include = Annotated[
    list[str] | None, typer.Option("--include", metavar="SELECTOR", help="Whose text counts: CSS, or xpath:….")
]
Exclude = Annotated[list[str] | None, typer.Option("--exclude", metavar="SELECTOR", help="What is left out.")]
FieldOptions = Annotated[
    list[str] | None,
    typer.Option("--field", metavar="NAME=SELECTOR", help="CSS, CSS@attribute or xpath:…; NAME[]= takes all matches."),
]


@categories.command("list")
def list_categories(as_json: AsJson = False) -> None:
    """Categories, also those that entries name and nobody has defined."""
    with open_backend() as backend:
        found = backend.categories.list_all()
    if as_json:
        shown = {"categories": [category.model_dump(mode="json") for category in found]}
        echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
    elif found:
        print_rows(console(), HEADINGS, map(_row, found), right=("entries", "extractions"))
    else:
        console().print("No categories; 'crawler category set' defines one.")


@categories.command()
def show(name: Name, as_json: AsJson = False) -> None:
    """A category's selectors, and how often each field has a value."""
    with open_backend() as backend:
        found = backend.categories.show(name)
    _show(found, as_json=as_json)


@categories.command("set")
def set_category(
    name: Name,
    file: File = None,
    include: Include = None,
    exclude: Exclude = None,
    field: FieldOptions = None,
    as_json: AsJson = False,
) -> None:
    """Define a category, or replace its selectors: by a file, by options, or by both."""
    selectors = _selectors(file, include, exclude, field)
    if selectors is None:
        raise Invalid("Say how its pages are read: a FILE, --include, --exclude or --field.")
    with open_backend() as backend:
        found = backend.categories.set(name, selectors)
    _show(found, as_json=as_json)


@categories.command()
def delete(
    name: Name, force: Annotated[bool, typer.Option("--force", help="Also while entries of it are to be read.")] = False
) -> None:
    """Delete a category; what was extracted stays."""
    with open_backend() as backend:
        backend.categories.delete(name, force=force)
    console().print("Deleted.")


@categories.command("try")
def try_category(
    name: Name,
    page: Annotated[str, typer.Argument(metavar="PAGE", help="Page id, URL, or number of a queue entry.")],
    file: File = None,
    include: Include = None,
    exclude: Exclude = None,
    field: FieldOptions = None,
    as_json: AsJson = False,
) -> None:
    """What the category's selectors, or unsaved ones, read from a stored page. Nothing is kept."""
    selectors = _selectors(file, include, exclude, field)
    with open_backend() as backend:
        trial = backend.categories.try_on(name, selectors, **_page(page))
    if as_json:
        echo(trial.model_dump_json(indent=2))
    else:
        _show_trial(trial)


def _page(page: str) -> dict[str, Any]:
    none: dict[str, Any] = {"page_id": None, "url": None, "queue_id": None}
    if page.isascii() and page.isdigit() and len(page) < 19:
        return none | {"queue_id": int(page)}
    try:
        return none | {"page_id": UUID(page)}
    except ValueError:
        return none | {"url": page}


def _selectors(
    file: Path | None, include: list[str] | None, exclude: list[str] | None, field: list[str] | None
) -> dict[str, Any] | None:
    """The selectors from a file and from options. Options override the file."""
    if file is None and not (include or exclude or field):
        return None
    found = _read(file) if file is not None else {}
    if include:
        found["include"] = include
    if exclude:
        found["exclude"] = exclude
    if field:
        fields = found.get("fields")
        found["fields"] = (dict(fields) if isinstance(fields, dict) else {}) | dict(map(_field, field))
    return found


def _field(written: str) -> tuple[str, Any]:
    name, equals, selector = written.partition("=")
    if not equals or not selector:
        raise Invalid("--field must look like NAME=SELECTOR.")
    if not name.endswith("[]"):
        return name, selector
    if selector.startswith("xpath:"):
        return name[:-2], {"selector": selector.removeprefix("xpath:"), "kind": "xpath", "many": True}
    css, _, attribute = selector.rpartition("@")
    return name[:-2], {"selector": css or attribute, "attribute": attribute if css else None, "many": True}


def _read(file: Path) -> dict[str, Any]:
    try:
        data = sys.stdin.buffer.read(LARGEST_FILE + 1) if str(file) == "-" else file.read_bytes()[: LARGEST_FILE + 1]
    except OSError as exc:
        raise Invalid(f"{file} cannot be read: {(exc.strerror or str(exc)).lower()}.") from exc
    if len(data) > LARGEST_FILE:
        raise Invalid(f"{file} is larger than a megabyte.")
    try:
        found = yaml.safe_load(data)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as exc:
        mark = getattr(exc, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark else ""
        raise Invalid(f"{file} is not YAML or JSON{where}.") from exc
    if not isinstance(found, dict):
        raise Invalid(f"{file} must hold include, exclude and fields.")
    return found


def _show(found: CategoryShown, *, as_json: bool) -> None:
    if as_json:
        echo(found.model_dump_json(indent=2))
        return
    screen = console()
    pairs = [("category", found.name), ("entries", f"{found.entries:,}"), ("extractions", f"{found.extractions:,}")]
    pairs += [(f"include {one.kind}", one.selector) for one in found.selectors.include]
    pairs += [(f"exclude {one.kind}", one.selector) for one in found.selectors.exclude]
    fill = {one.field: one for one in found.fill}
    for name, rule in found.selectors.fields.items():
        also = [f"@{rule.attribute}" if rule.attribute else "", "all" if rule.many else ""]
        also += ["required" if rule.required else "", _fill_words(fill.get(name))]
        pairs.append((f"field {name}", ", ".join(filter(None, [f"{rule.kind} {rule.selector}", *also]))))
    print_pairs(screen, pairs)


def _fill_words(fill: FieldFill | None) -> str:
    if fill is None:
        return ""
    usual = f" (usually {fill.usual:.0%})" if fill.usual is not None else ""
    return f"{'DROPPED: ' if fill.dropped else ''}found on {fill.share:.0%} of the last {fill.of}{usual}"


def _show_trial(trial: DryRun) -> None:
    screen = console()
    pairs = [("page", str(trial.page_id)), ("url", trial.url), ("language", trial.language or "")]
    for name, value in trial.fields.items():
        words = " | ".join(value) if isinstance(value, list) else str(value or "–")
        pairs.append((f"field {name}", words))
    pairs += [(f"{place} matches", str(n)) for place, n in trial.matches.items() if n == 0]
    if trial.problem:
        pairs.append(("would fail", trial.problem))
    print_pairs(screen, pairs)
    more = " …" if len(trial.text) > SHOWN_TEXT else ""
    screen.print(clean(trial.text[:SHOWN_TEXT] + more))


def _row(found: CategoryShown) -> list[str | Text]:
    fields = ", ".join(f"{one.field} {one.share:.0%}" for one in found.fill)
    state = "" if found.defined else "not defined: default extractor"
    if found.alarms:
        state = f"dropped: {', '.join(found.alarms)}"
    name = found.name or "(none)"
    return [clean(name), f"{found.entries:,}", f"{found.extractions:,}", clean(fields), clean(state)]
