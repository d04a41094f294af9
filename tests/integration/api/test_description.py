"""The OpenAPI description, as programs that make clients of it read it."""

import re

from tests.integration.api.conftest import Service


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
