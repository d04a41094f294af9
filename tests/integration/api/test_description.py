"""The OpenAPI description, as programs that make clients of it read it."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.integration.api.conftest import Service


@pytest.mark.slow
def test_clients_made_of_the_description_have_every_operation(service: Service) -> None:
    """Generators name methods by the operation's id, and know JSON, text, forms and octets."""
    paths = service.get("/openapi.json")["paths"]
    operations = [operation for methods in paths.values() for operation in methods.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z]+(_[a-z]+)+", name)] == []
    for operation in operations:
        sent = operation.get("requestBody", {}).get("content", {"application/json": {}})
        got = next(answer for status, answer in operation["responses"].items() if status.startswith("2"))
        for types in (sent, got.get("content", {"application/json": {}})):
            assert any(re.match(r"text/|application/(json|octet-stream)", each) for each in types), operation


def test_whatever_is_sent_has_a_bound(service: Service) -> None:
    """What nobody bounds becomes a row that cannot be read back, or that all others are slow for."""
    spec = service.get("/openapi.json")
    found: list[str] = []
    for path, methods in spec["paths"].items():
        for method, operation in methods.items():
            sent = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            found += _unbounded(spec, sent.get("schema", {}), f"{method} {path}")
            for parameter in operation.get("parameters", ()):
                found += _unbounded(spec, parameter["schema"], f"{method} {path}?{parameter['name']}")
    assert found == []


def _unbounded(spec: Any, part: dict[str, Any], where: str, above: tuple[str, ...] = ()) -> Iterator[str]:
    name = part.get("$ref", "").rpartition("/")[2]
    if name:
        if name not in above:
            yield from _unbounded(spec, spec["components"]["schemas"][name], where, (*above, name))
        return
    if _has_no_bound(part):
        yield f"{where}: {part['type']}"
    for inner, below in _inside(part):
        yield from _unbounded(spec, inner, where + below, above)


def _inside(part: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    for choice in [*part.get("anyOf", ()), *part.get("oneOf", ()), *part.get("allOf", ())]:
        yield choice, ""
    for name, inner in part.get("properties", {}).items():
        yield inner, f".{name}"
    for inner in (part.get("items"), part.get("additionalProperties")):
        if isinstance(inner, dict):
            yield inner, "[]"


def _has_no_bound(part: dict[str, Any]) -> bool:
    match part.get("type"):
        case "integer" | "number":
            return part.keys().isdisjoint({"maximum", "exclusiveMaximum"})
        case "string":
            return part.keys().isdisjoint({"maxLength", "enum", "const", "format"})
        case "array":
            return "maxItems" not in part
        case "object":
            return isinstance(part.get("additionalProperties"), dict) and "maxProperties" not in part
    return False
