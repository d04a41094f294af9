"""Reference table: every Prometheus metric."""

import ast
from typing import NamedTuple

from scripts.reference.text import ROOT, table


class Metric(NamedTuple):
    name: str
    kind: str
    labels: list[str]
    words: str


def metrics() -> list[Metric]:
    """The metrics, read from the source: a collector would need servers."""
    source = (ROOT / "crawler" / "adapters" / "operating" / "metrics_reader.py").read_text()
    tree = ast.parse(source)
    lists = {
        target.id: statement.value
        for statement in ast.walk(tree)
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and isinstance(statement.value, ast.List)
    }
    makers = {"_gauge": "gauge", "GaugeMetricFamily": "gauge", "CounterMetricFamily": "counter"}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    found = []
    for call in sorted(calls, key=lambda one: one.lineno):
        kind = makers.get(getattr(call.func, "id", ""))
        if kind and isinstance(call.args[0], ast.Constant):
            name, words = (str(ast.literal_eval(argument)) for argument in call.args[:2])
            given = [word.value for word in call.keywords if word.arg == "labels"]
            given += [lists.get(a.id, a) if isinstance(a, ast.Name) else a for a in call.args[2:3]]
            labels = [str(ast.literal_eval(part)) for one in given if isinstance(one, ast.List) for part in one.elts]
            found.append(Metric(f"{name}_total" if kind == "counter" else name, kind, labels, words))
    return found


def metric_table() -> str:
    rows = []
    for one in metrics():
        labels = ",".join(one.labels)
        rows.append((f"`{one.name}{{{labels}}}`" if labels else f"`{one.name}`", one.kind, one.words))
    return table(("metric", "kind", "what it counts"), rows)
