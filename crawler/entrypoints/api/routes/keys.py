"""`/keys`: create, list and revoke API keys. A key is shown once; only its hash is stored.

What a scope allows: `domain/api_keys.py` and `entrypoints/http/auth.py`.
"""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Response
from pydantic import ConfigDict, Field, computed_field

from crawler.domain.api_keys import ApiKey, Scope
from crawler.entrypoints.http.access import Tools
from crawler.entrypoints.http.auth import AdminOnly
from crawler.entrypoints.http.cursors import MOST, Cursor, Limit, part_of
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import OLD_NAME, Body, Listed, Text, Wire

router = APIRouter(tags=["keys"], dependencies=[AdminOnly])


class NewKey(Body):
    model_config = ConfigDict(json_schema_extra={"example": {"name": "dashboard", "scope": "read"}})

    name: Text = Field(min_length=1, max_length=100, description="What it is for")
    scope: Scope = Scope.WRITE
    project_ids: tuple[UUID, ...] | None = Field(None, min_length=1, max_length=1000, description="Limit it to these")


class KeyShown(Wire):
    id: UUID
    name: str
    hint: str = Field(description="Its first characters")
    scope: Scope
    project_ids: tuple[UUID, ...] | None
    created_at: datetime
    revoked_at: datetime | None

    @classmethod
    def of(cls, key: ApiKey) -> "KeyShown":
        return cls(**key.model_dump(include=set(KeyShown.model_fields)))


class IssuedKey(KeyShown):
    key: str = Field(description="The secret; it is shown now and never again")


class Keys(Listed[KeyShown]):
    @computed_field(json_schema_extra=OLD_NAME)  # type: ignore[prop-decorator]
    @property
    def keys(self) -> list[KeyShown]:
        return self.items


@router.post("/keys", status_code=201, summary="Make a key", responses=problems(404))
def create_key(body: NewKey, tools: Tools) -> IssuedKey:
    for project_id in body.project_ids or ():
        tools.store.get_project(project_id)
    key, secret = ApiKey.issue(name=body.name, scope=body.scope, now=tools.clock(), project_ids=body.project_ids)
    tools.store.add_key(key)
    return IssuedKey(**KeyShown.of(key).model_dump(), key=secret)


@router.get("/keys", summary="All keys, without their secrets")
def list_keys(tools: Tools, cursor: Cursor = None, limit: Limit = MOST) -> Keys:
    shown, following = part_of("keys", tools.store.list_keys(), cursor, limit, lambda key: str(key.id))
    return Keys(items=[KeyShown.of(key) for key in shown], next_cursor=following)


@router.delete(
    "/keys/{key_id}", status_code=204, response_class=Response, summary="Revoke a key", responses=problems(404)
)
def revoke_key(key_id: Annotated[UUID, Path()], tools: Tools) -> Response:
    tools.store.revoke_key(key_id, tools.clock())
    return Response(status_code=204)
