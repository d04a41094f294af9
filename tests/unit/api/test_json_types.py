"""Types in JSON bodies are those described: nothing is taken for something else."""

from enum import StrEnum
from typing import Annotated, Any
from uuid import UUID

import pytest
from pydantic import BaseModel, Field, ValidationError

from crawler.entrypoints.http.shapes import Body


class Size(StrEnum):
    ONE = "1"


class Inner(BaseModel):
    active: bool | None = None


class Order(Body):
    count: int = 0
    share: Annotated[float, Field(ge=0)] | None = None
    force: bool = False
    ids: list[Annotated[int, Field(ge=1)]] = Field([])
    inner: Inner | None = None
    size: Size = Size.ONE
    owner: UUID | None = None
    either: int | str = 0
    free: Any = None


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({"count": True}, "count must be a number, not true or false"),
        ({"count": "5"}, "count must be a number, not text"),
        ({"share": False}, "share must be a number, not true or false"),
        ({"share": "0.5"}, "share must be a number, not text"),
        ({"force": 1}, "force must be true or false"),
        ({"force": "yes"}, "force must be true or false"),
        ({"ids": [1, True]}, "ids must be a number, not true or false"),
        ({"inner": {"active": 0}}, "active must be true or false"),
        ({"either": True}, "either must be a number, not true or false"),
    ],
)
def test_one_type_is_not_taken_for_another(body: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        Order.model_validate(body)


def test_what_is_described_is_taken() -> None:
    body = {"count": 5, "share": 1, "force": True, "ids": [1], "inner": {"active": False}, "size": "1", "either": "a"}
    owner = "01890a5d-ac96-774b-bcce-b302099a8057"
    taken = Order.model_validate({**body, "owner": owner, "free": "5"})
    assert (taken.count, taken.share, taken.force, taken.ids) == (5, 1.0, True, [1])
    assert (taken.inner, taken.size, str(taken.owner), taken.either) == (Inner(active=False), Size.ONE, owner, "a")


class _Counted(bytes):
    """Bytes that nobody may walk through: there may be four million, a microsecond each."""

    def __iter__(self) -> Any:
        raise AssertionError("each byte is looked at")


def test_a_body_that_is_no_json_is_refused_without_a_look_at_each_byte() -> None:
    class Named(Body):
        name: str

    with pytest.raises(ValidationError, match="valid dictionary"):
        Named.model_validate(_Counted(b"name=x"))
