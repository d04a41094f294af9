from datetime import UTC, datetime
from uuid import uuid4

import pytest

from crawler.domain.api_keys import ApiKey, Scope

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def test_the_secret_is_not_kept() -> None:
    key, secret = ApiKey.issue(name="ci", scope=Scope.READ, now=NOW)
    assert secret not in key.model_dump_json()
    assert key.matches(secret)
    assert not key.matches(secret + "x")
    assert not key.matches("")


def test_every_key_is_another() -> None:
    assert len({ApiKey.issue(name="x", scope=Scope.READ, now=NOW)[1] for _ in range(50)}) == 50


def test_a_revoked_key_opens_nothing() -> None:
    key, secret = ApiKey.issue(name="ci", scope=Scope.READ, now=NOW)
    assert not key.model_copy(update={"revoked_at": NOW}).matches(secret)


@pytest.mark.parametrize(
    ("has", "needs", "allowed"),
    [
        (Scope.READ, Scope.READ, True),
        (Scope.READ, Scope.WRITE, False),
        (Scope.WRITE, Scope.READ, True),
        (Scope.WRITE, Scope.ADMIN, False),
        (Scope.ADMIN, Scope.ADMIN, True),
    ],
)
def test_a_scope_includes_the_lesser_ones(has: Scope, needs: Scope, allowed: bool) -> None:
    assert has.allows(needs) is allowed


def test_a_limited_key_sees_only_its_projects() -> None:
    mine, other = uuid4(), uuid4()
    limited, _ = ApiKey.issue(name="x", scope=Scope.READ, now=NOW, project_ids=(mine,))
    free, _ = ApiKey.issue(name="y", scope=Scope.READ, now=NOW)
    assert limited.sees(mine)
    assert not limited.sees(other)
    assert free.sees(other)
