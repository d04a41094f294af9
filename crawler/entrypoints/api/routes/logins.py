"""`/projects/{id}/logins`: steps that sign in to one origin in a browser. Secrets and sessions are write-only.

Decided in `handlers/hosts/manage_logins.py`; what a login is in `domain/hosts/logins.py`.
"""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import ConfigDict, Field, Secret

from crawler.domain.crawls.page_steps import MOST_CHARACTERS, MOST_STEPS
from crawler.domain.hosts.logins import MAX_SECRET, MOST_SECRETS, LoginState, SecretName, StoredLogin
from crawler.entrypoints.http.access import OwnProject, Tools
from crawler.entrypoints.http.problems import problems
from crawler.entrypoints.http.shapes import Body, Listed, Text, Wire
from crawler.handlers.hosts.manage_logins import checked_login

router = APIRouter(tags=["logins"])

Origin = Annotated[Text, Query(min_length=1, max_length=2000, description="https://example.org, or any URL of it")]
SecretText = Secret[Annotated[str, Field(min_length=1, max_length=MAX_SECRET)]]


class NewLogin(Body):
    model_config = ConfigDict(
        json_schema_extra={
            "example": {
                "origin": "https://example.org",
                "steps": [
                    "open https://example.org/login",
                    "fill #user from user",
                    "fill #password from password",
                    "click button[type=submit]",
                ],
                "signed_in": ".account",
                "secrets": {"user": "me@example.org", "password": "s3cret"},
            }
        }
    )

    origin: Text = Field(min_length=1, max_length=2000, description="Whose pages are read signed in")
    steps: list[Annotated[Text, Field(max_length=MOST_CHARACTERS)]] = Field(
        max_length=MOST_STEPS, description="Lines: open, fill, click, wait for, scroll"
    )
    signed_in: Text = Field("", max_length=512, description="CSS or xpath: of what only pages read signed in have")
    secrets: dict[SecretName, SecretText] = Field(
        max_length=MOST_SECRETS,
        description="By name, for fill; never shown again",
        json_schema_extra={"writeOnly": True, "additionalProperties": False},
    )


class LoginShown(Wire):
    origin: str
    steps: list[str]
    signed_in: str
    secrets: list[str] = Field(description="Their names; none if they were encrypted with another key")
    state: LoginState
    problem: str | None = Field(description="Why it failed, in words")
    tried_at: datetime | None
    session_at: datetime | None = Field(description="Since when there is a session; null if there is none")
    updated_at: datetime

    @classmethod
    def of(cls, stored: StoredLogin) -> "LoginShown":
        return cls(**stored._asdict())


@router.get(
    "/projects/{project_id}/logins",
    summary="A project's logins and what came of them, without secrets",
    responses=problems(404),
)
def list_logins(project_id: OwnProject, tools: Tools) -> Listed[LoginShown]:
    return Listed(items=[LoginShown.of(one) for one in tools.projects.logins.list(project_id)], next_cursor=None)


@router.put(
    "/projects/{project_id}/logins",
    summary="Set the login of an origin; the project's pages are read in a browser from then on",
    responses=problems(404, 409),
)
def set_login(project_id: OwnProject, body: NewLogin, tools: Tools) -> LoginShown:
    secrets = {name: value.get_secret_value() for name, value in body.secrets.items()}
    order = checked_login({"steps": tuple(body.steps), "signed_in": body.signed_in, "secrets": secrets})
    return LoginShown.of(tools.projects.logins.set(project_id, body.origin, order))


@router.post(
    "/projects/{project_id}/logins/try",
    status_code=202,
    summary="Sign in anew, with one page; `state` and `problem` say a moment later what came of it",
    responses=problems(404, 409),
)
def try_login(project_id: OwnProject, tools: Tools, origin: Origin) -> LoginShown:
    return LoginShown.of(tools.projects.logins.try_now(project_id, origin))


@router.delete(
    "/projects/{project_id}/logins",
    status_code=204,
    response_class=Response,
    summary="Remove a login and its session",
    responses=problems(404),
)
def remove_login(project_id: OwnProject, tools: Tools, origin: Origin) -> Response:
    tools.projects.logins.remove(project_id, origin)
    return Response(status_code=204)
