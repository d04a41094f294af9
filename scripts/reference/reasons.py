"""Reference tables: reasons of URLs, and error codes."""

import ast
from collections.abc import Iterator
from typing import Any, NamedTuple

from crawler.domain.reason_words import MEANINGS, NAMES
from crawler.domain.reasons import FAILED, NOTES, SKIPPED
from crawler.entrypoints.http.problems import HTTP_CODES
from scripts.reference.text import ROOT, prose, sentence, table


def reasons() -> str:
    groups = {"Skipped": SKIPPED, "Failed": FAILED, "Notes on stored pages": NOTES}
    return "\n".join(
        f"### {name}\n\n"
        + table(
            ("reason", "in short", "meaning, and what helps"),
            [(f"`{one}`", NAMES[one], prose(MEANINGS[one])) for one in MEANINGS if one in group],
        )
        for name, group in groups.items()
    )


def http_codes() -> str:
    rows = [(f"`{code}`", str(status), prose(words)) for code, (status, words) in HTTP_CODES.items()]
    return table(("code", "HTTP status", "meaning"), rows)


class _Error(NamedTuple):
    bases: list[str]
    words: str
    code: Any
    status: Any
    exit: Any


def error_codes() -> str:
    known = dict(_errors())
    rows = []
    for name, error in known.items():
        status = _inherited(known, name, "status")
        if error.code and status and status != 500:  # errors with status 500 do not show their code
            rows.append((f"`{error.code}`", str(status), str(_inherited(known, name, "exit") or ""), error.words))
    return table(("code", "HTTP status", "exit status", "meaning"), sorted(set(rows), key=lambda row: (row[1], row[0])))


def _errors() -> Iterator[tuple[str, _Error]]:
    """All error classes, read from the source: importing some modules takes seconds."""
    for file in sorted((ROOT / "crawler").rglob("*.py")):
        if "client" in file.parts:
            continue
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ClassDef):
                has = {
                    target.id: statement.value.value
                    for statement in node.body
                    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant)
                    for target in statement.targets
                    if isinstance(target, ast.Name)
                }
                bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
                words = sentence(ast.get_docstring(node) or "")
                yield node.name, _Error(bases, words, has.get("code"), has.get("http_status"), has.get("exit_code"))


def _inherited(known: dict[str, _Error], name: str, field: str) -> Any:
    if name not in known:
        return None
    own = getattr(known[name], field)
    above = (_inherited(known, base, field) for base in known[name].bases)
    return own if own is not None else next((found for found in above if found is not None), None)
