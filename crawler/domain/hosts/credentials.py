"""Credentials of a project (headers, cookies, basic auth): each belongs to one origin and is sent to no other.

The origin (scheme, host, port) is given when a credential is stored. It stays when the project's address changes.
Kept by `headers_for` in `handlers/engine/crawl_context.py`, for redirects by `adapters/curl/transfer.py`, and in the
browser by `adapters/browser/request_gate.py`.
"""

import base64
import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints, ValidationError, model_validator

from crawler.errors import Conflict, Invalid

MAX_NAME = 100
MAX_VALUE = 4000
MAX_ORIGINS = 20
"""Most origins a project has credentials for."""
AUTHORIZATION = "Authorization"
"""The header that basic auth is sent in, and its name in lists: user and password are both its value."""
COOKIE = "Cookie"

_TOKEN = r"^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$"  # noqa: S105 - RFC 9110's "token", no secret
_TEXT = re.compile(r"^[\t\x20-\x7e\x80-\xff]*$").match
# Headers that the fetcher sets itself: with these a project could smuggle a second request or name another host.
FORBIDDEN = frozenset(
    {
        "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect",
        "proxy-authorization", "if-none-match", "if-modified-since", "accept-encoding",
    }
)  # fmt: skip

Name = Annotated[str, StringConstraints(pattern=_TOKEN, max_length=MAX_NAME)]


class CredentialKind(StrEnum):
    HEADER = "header"
    COOKIE = "cookie"
    BASIC_AUTH = "basic_auth"


class StoredCredential(NamedTuple):
    """A credential as it is listed: never with its value."""

    origin: str
    kind: CredentialKind | None
    """None if it was encrypted with another key: it can only be removed."""
    name: str
    updated_at: datetime


class Credentials(BaseModel):
    """All credentials of one origin."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    headers: dict[Name, SecretStr] = Field(default_factory=dict, max_length=20)
    cookies: dict[Name, SecretStr] = Field(default_factory=dict, max_length=50)
    basic_auth: SecretStr | None = Field(None, description="user:password")

    @model_validator(mode="after")
    def _can_be_sent(self) -> Self:
        for name in self.headers:
            if name.lower() in FORBIDDEN:
                raise ValueError(f"the header {name} is set by the crawler itself")
        for name, value in (*self.headers.items(), *self.cookies.items()):
            if not _TEXT(value.get_secret_value()) or len(value.get_secret_value()) > MAX_VALUE:
                raise ValueError(f"the value of {name} cannot be sent in a header")
        if any(";" in value.get_secret_value() for value in self.cookies.values()):
            raise ValueError("a cookie's value cannot hold a semicolon")
        if self.basic_auth and ":" not in self.basic_auth.get_secret_value():
            raise ValueError("basic_auth must look like user:password")
        return self

    @classmethod
    def of_headers(cls, headers: Mapping[str, str]) -> Self:
        return cls._checked({"headers": dict(headers)})

    def with_one(self, kind: CredentialKind, name: str, value: str) -> Self:
        """A copy with one credential added, or replaced where one of this name is. Names of headers ignore case."""
        self._check_only_way(kind, name)
        changed = self.without(kind, name).revealed()
        if kind is CredentialKind.BASIC_AUTH:
            changed["basic_auth"] = value
        else:
            changed[_FIELDS[kind]][name] = value
        return self._checked(changed)

    def without(self, kind: CredentialKind, name: str) -> Self:
        kept = self.revealed()
        if kind is CredentialKind.BASIC_AUTH:
            kept["basic_auth"] = None
        else:
            values = kept[_FIELDS[kind]]
            kept[_FIELDS[kind]] = {one: value for one, value in values.items() if not _is_same(kind, one, name)}
        return type(self).model_validate(kept)

    def names(self) -> list[tuple[CredentialKind, str]]:
        """Kinds and names, which are no secrets."""
        found = [(CredentialKind.HEADER, name) for name in self.headers]
        found += [(CredentialKind.COOKIE, name) for name in self.cookies]
        return found + ([(CredentialKind.BASIC_AUTH, AUTHORIZATION)] if self.basic_auth else [])

    def as_headers(self) -> tuple[tuple[str, str], ...]:
        sent = [(name, value.get_secret_value()) for name, value in self.headers.items()]
        if self.cookies:
            pairs = (f"{name}={value.get_secret_value()}" for name, value in self.cookies.items())
            sent.append((COOKIE, "; ".join(pairs)))
        if self.basic_auth:
            encoded = base64.b64encode(self.basic_auth.get_secret_value().encode()).decode()
            sent.append((AUTHORIZATION, f"Basic {encoded}"))
        return tuple(sent)

    def revealed(self) -> dict[str, Any]:
        """The secrets as plain text, for encryption. Nothing else turns them into text."""
        return {
            "headers": {name: value.get_secret_value() for name, value in self.headers.items()},
            "cookies": {name: value.get_secret_value() for name, value in self.cookies.items()},
            "basic_auth": self.basic_auth.get_secret_value() if self.basic_auth else None,
        }

    def _check_only_way(self, kind: CredentialKind, name: str) -> None:
        """Refuse a header that would be sent twice: basic auth and cookies are headers, too."""
        is_header = kind is CredentialKind.HEADER
        taken = {one.lower() for one in self.headers}
        if (is_header and name.lower() == "authorization" and self.basic_auth) or (
            kind is CredentialKind.BASIC_AUTH and "authorization" in taken
        ):
            raise Conflict("Basic auth and a header Authorization exclude each other; remove the other one first.")
        if (is_header and name.lower() == "cookie" and self.cookies) or (
            kind is CredentialKind.COOKIE and "cookie" in taken
        ):
            raise Conflict("Cookies and a header Cookie exclude each other; remove the other one first.")

    @classmethod
    def _checked(cls, given: dict[str, Any]) -> Self:
        """Refuse what cannot be sent, in a sentence without values: those are secrets."""
        try:
            return cls.model_validate(given)
        except ValidationError as exc:
            raise Invalid(f"This credential cannot be sent: {problem_of(exc)}.") from None


def problem_of(exc: ValidationError) -> str:
    """What is wrong with credentials, without a value."""
    first = exc.errors(include_input=False, include_url=False, include_context=False)[0]
    if first["type"] == "string_pattern_mismatch":
        return "its name has characters that names of headers and cookies cannot have"
    if first["type"] == "too_long":
        return "there are too many for one origin"
    return str(first["msg"]).removeprefix("Value error, ")


_FIELDS = {CredentialKind.HEADER: "headers", CredentialKind.COOKIE: "cookies"}


def _is_same(kind: CredentialKind, one: str, other: str) -> bool:
    return one == other if kind is CredentialKind.COOKIE else one.lower() == other.lower()
