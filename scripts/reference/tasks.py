"""Reference table: every Celery task."""

import ast
from typing import Any, NamedTuple

from crawler.adapters.operating.queues import ROUTES
from scripts.reference.text import ROOT, sentence, table


class Task(NamedTuple):
    name: str
    arguments: list[str]
    keeps_result: bool
    words: str


def tasks() -> list[Task]:
    """The tasks, read from the source: importing them would start servers."""
    found = []
    for node in ast.parse((ROOT / "workers" / "tasks.py").read_text()).body:
        for call in getattr(node, "decorator_list", []):
            if not isinstance(call, ast.Call):
                continue
            assert isinstance(node, ast.FunctionDef)
            given: dict[str | None, Any] = {
                word.arg: word.value.value for word in call.keywords if isinstance(word.value, ast.Constant)
            }
            arguments = [
                argument.arg for argument in (*node.args.args, *node.args.kwonlyargs) if argument.arg != "self"
            ]
            keeps = given.get("ignore_result") is False
            found.append(Task(given["name"], arguments, keeps, sentence(ast.get_docstring(node) or "")))
    return found


def task_table() -> str:
    several = {"crawler.fetch": "`fetch`, `render`", "crawler.canary": "each"}
    rows = []
    for task in tasks():
        queue = several.get(task.name) or f"`{ROUTES[task.name]}`"
        arguments = ", ".join(f"`{name}`" for name in task.arguments) or "–"
        rows.append((f"`{task.name}`", queue, arguments, "kept" if task.keeps_result else "–", task.words))
    return table(("task", "queue", "arguments", "result", "what it does"), rows)
