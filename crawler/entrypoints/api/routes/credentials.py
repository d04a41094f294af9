"""`/projects/{id}/credentials`: headers, cookies and basic auth that are sent to one origin. Values are write-only.

Decided in `handlers/hosts/manage_credentials.py`; what can be stored in `domain/hosts/credentials.py`.
"""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import ConfigDict, Field, Secret

from crawler.domain.hosts.credentials import MAX_NAME, MAX_VALUE, CredentialKind, StoredCredential
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Body, Listed, Text, Wire

router = APIRouter(tags=["credentials"])

Origin = Annotated[Text, Query(min_length=1, max_length=2000, description="https://example.org, or any URL of it")]


class NewCredential(Body):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {"origin": "https://example.org", "kind": "header", "name": "X-Key", "value": "s3cret"}
        }
    )

    origin: Text = Field(min_length=1, max_length=2000, description="https://example.org, or any URL of it")
    kind: CredentialKind
    name: Text | None = Field(
        None, min_length=1, max_length=MAX_NAME, description="Of the header or cookie; none for basic_auth"
    )
    value: Secret[Annotated[str, Field(min_length=1, max_length=MAX_VALUE)]] = Field(
        description="Never shown again; of basic_auth user:password",
        json_schema_extra={"format": "password", "writeOnly": True},
    )


class CredentialShown(Wire):
    origin: str = Field(description="The only one it is sent to")
    kind: CredentialKind | None = Field(description="Null: encrypted with another key; remove it and set it anew")
    name: str
    updated_at: datetime = Field(description="When a credential of this origin was last set")

    @classmethod
    def of(cls, stored: StoredCredential) -> "CredentialShown":
        return cls(**stored._asdict())


@router.get(
    "/projects/{project_id}/credentials",
    summary="A project's credentials by origin and name, without values",
    responses=problems(404),
)
def list_credentials(project_id: OwnProject, tools: Tools) -> Listed[CredentialShown]:
    stored = tools.projects.credentials.list(project_id)
    return Listed(items=[CredentialShown.of(one) for one in stored], next_cursor=None)


@router.put(
    "/projects/{project_id}/credentials",
    summary="Set a credential for an origin; one of the same kind and name is replaced",
    responses=problems(404, 409),
)
def set_credential(project_id: OwnProject, body: NewCredential, tools: Tools) -> CredentialShown:
    value = body.value.get_secret_value()
    return CredentialShown.of(tools.projects.credentials.set(project_id, body.origin, body.kind, body.name, value))


@router.delete(
    "/projects/{project_id}/credentials",
    status_code=204,
    response_class=Response,
    summary="Remove a credential or, without a kind, all of an origin",
    responses=problems(404, 409),
)
def remove_credential(
    project_id: OwnProject,
    tools: Tools,
    origin: Origin,
    kind: CredentialKind | None = None,
    name: Annotated[Text | None, Query(max_length=MAX_NAME)] = None,
) -> Response:
    tools.projects.credentials.remove(project_id, origin, kind, name)
    return Response(status_code=204)
