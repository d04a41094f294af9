"""What people may add to a project has a bound, which is said when it is reached."""

from typing import Any

import pytest

from crawler.handlers.changes import manage_noise
from crawler.handlers.notices import manage_mutes, manage_recipients
from crawler.handlers.watching import manage_watch
from tests.integration.api.conftest import Service

UNTIL = "2999-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("module", "bound", "path", "bodies"),
    [
        (manage_noise, "MOST_RULES", "noise-rules", [{"kind": "selector", "value": f".n{n}"} for n in range(3)]),
        (manage_mutes, "MOST_MUTES", "mutes", [{"page": f"https://e.org/{n}", "until": UNTIL} for n in range(3)]),
        (
            manage_recipients,
            "MOST_RECIPIENTS",
            "recipients",
            [{"channel": "email", "address": f"a{n}@e.org"} for n in range(3)],
        ),
        (manage_watch, "MOST_RULES", "watch-rules", [{"watch": [f".price{n}"]} for n in range(3)]),
    ],
    ids=["noise rules", "mutes", "recipients", "watch rules"],
)
def test_no_more_than_so_many(
    service: Service, monkeypatch: pytest.MonkeyPatch, module: Any, bound: str, path: str, bodies: list[dict[str, Any]]
) -> None:
    monkeypatch.setattr(module, bound, 2)
    where = f"/projects/{service.project()['id']}/{path}"
    for body in bodies[:2]:
        made = service("POST", where, json=body)
        assert made.status_code == 201, made.text
    refused = service("POST", where, json=bodies[2])
    assert refused.status_code == 422
    assert "2 " in refused.json()["detail"]
    assert "at most; remove some first." in refused.json()["detail"]
    assert len(service.get(where)["items"]) == 2
