"""Has each statement of a module mark its line before it is done."""

import ast
from collections.abc import Iterable

MARKS = "__lines__"
"""A builtin of every process that is looked at: one byte for each line of all modules."""


def marked(source: str, first: int) -> ast.Module:
    """A module whose line n marks byte `first` + n."""
    tree = ast.parse(source)
    for node in list(ast.walk(tree)):
        for field in ("body", "orelse", "finalbody"):
            # An expression has these fields, too: `a if b else c` and lambdas.
            if isinstance(body := getattr(node, field, None), list):
                setattr(node, field, _marked(body, [*_heads(node, field)], first))
    return ast.fix_missing_locations(tree)


def _heads(node: ast.AST, field: str) -> Iterable[int]:
    """Lines that are done if what is below them is: they are no statements of their own."""
    if isinstance(node, ast.ExceptHandler):
        yield node.lineno
    elif isinstance(node, ast.match_case):
        yield node.pattern.lineno


def _marked(body: list[ast.stmt], heads: list[int], first: int) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for at, statement in enumerate(body):
        if _must_be_first(statement, at):
            found.append(statement)
            continue
        decorators = getattr(statement, "decorator_list", [])
        lines = [*heads, *(decorator.lineno for decorator in decorators), statement.lineno]
        heads = []
        found += [_mark(first + line, statement) for line in lines]
        found.append(statement)
    return found


def _must_be_first(statement: ast.stmt, at: int) -> bool:
    is_docstring = at == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_docstring or (isinstance(statement, ast.ImportFrom) and statement.module == "__future__")


def _mark(byte: int, statement: ast.stmt) -> ast.stmt:
    place = ast.Subscript(ast.Name(MARKS, ast.Load()), ast.Constant(byte), ast.Store())
    mark = ast.Assign([place], ast.Constant(1))
    for node in (mark, place, place.value, place.slice, mark.value):
        ast.copy_location(node, statement)
    return mark
