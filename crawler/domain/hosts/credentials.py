"""A project's credentials: headers, cookies and basic auth. They are sent only to the project's own site.

Kept by `headers_for` in `handlers/engine/crawl_context.py`, and for redirects by `adapters/curl/transfer.py`.
"""

import base64
import re
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints, model_validator

_TOKEN = r"^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$"  # noqa: S105 - RFC 9110's "token", no secret
_TEXT = re.compile(r"^[\t\x20-\x7e\x80-\xff]*$").match
# Headers that the fetcher sets itself: with these a project could smuggle a second request or name another host.
FORBIDDEN = frozenset(
    {
        "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "expect",
        "proxy-authorization", "if-none-match", "if-modified-since", "accept-encoding",
    }
)  # fmt: skip

Name = Annotated[str, StringConstraints(pattern=_TOKEN, max_length=100)]


class Credentials(BaseModel):
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
            if not _TEXT(value.get_secret_value()) or len(value.get_secret_value()) > 4000:
                raise ValueError(f"the value of {name} cannot be sent in a header")
        if any(";" in value.get_secret_value() for value in self.cookies.values()):
            raise ValueError("a cookie's value cannot hold a semicolon")
        if self.basic_auth and ":" not in self.basic_auth.get_secret_value():
            raise ValueError("basic_auth must look like user:password")
        return self

    def as_headers(self) -> tuple[tuple[str, str], ...]:
        sent = [(name, value.get_secret_value()) for name, value in self.headers.items()]
        if self.cookies:
            pairs = (f"{name}={value.get_secret_value()}" for name, value in self.cookies.items())
            sent.append(("Cookie", "; ".join(pairs)))
        if self.basic_auth:
            encoded = base64.b64encode(self.basic_auth.get_secret_value().encode()).decode()
            sent.append(("Authorization", f"Basic {encoded}"))
        return tuple(sent)

    def revealed(self) -> dict[str, object]:
        """The secrets as plain text, for encryption. Nothing else turns them into text."""
        return {
            "headers": {name: value.get_secret_value() for name, value in self.headers.items()},
            "cookies": {name: value.get_secret_value() for name, value in self.cookies.items()},
            "basic_auth": self.basic_auth.get_secret_value() if self.basic_auth else None,
        }
