"""A login: declared steps that sign in to one origin in a browser, and the session that they bring.

The steps: `domain/crawls/page_steps.py`. Secrets and session are encrypted like credentials, and never shown. A login
runs when there is no session, or when a page shows that it is over; not again in a crawl in which it failed, because
sites lock accounts. Taken by `adapters/browser/sign_in.py`, decided by `handlers/engine/use_logins.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, StringConstraints, model_validator

from crawler.domain.crawls.page_steps import MOST_STEPS, Do, InvalidSteps, Step, StepLine, login_steps, parse_step

MOST_SECRETS = 10
MAX_SECRET = 4000
MAX_SESSION = 256 * 1024
MOST_LOGINS = 20
"""Origins of a project."""
MOST_SIGN_INS = 3
"""In a row, in one crawl; a site that signs out so often has a login that loops."""
LASTING_SECONDS = 600.0
"""A session that held for so long ended by itself: the login after it is none in a row."""
SIGN_IN_SECONDS = 90.0
"""For so long nobody else signs in to the same origin."""
WAIT_SECONDS = 3.0
"""After so long a page asks again whether somebody else has signed in."""
LOOPS = f"The site asked to sign in again and again: after {MOST_SIGN_INS} logins in a row no more are tried."

SecretName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,63}$")]


class LoginState(StrEnum):
    UNTRIED = "untried"
    SIGNED_IN = "signed_in"
    LOST = "lost"
    """The site asked to sign in again; the next page signs in."""
    FAILED = "failed"


class LoginOrder(BaseModel):
    """A login as it is written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: tuple[StepLine, ...] = Field(
        max_length=MOST_STEPS, description="A line each: open, fill, click, wait for, scroll"
    )
    signed_in: str = Field(
        "", max_length=512, description="CSS or xpath: of what only a page has that is read signed in"
    )
    secrets: dict[SecretName, SecretStr] = Field({}, max_length=MOST_SECRETS, description="By name, for fill")

    @model_validator(mode="after")
    def _can_be_taken(self) -> Self:
        try:
            steps = login_steps(self.steps)
            if self.signed_in:
                parse_step(f"wait for {self.signed_in}")
        except InvalidSteps as exc:
            raise ValueError(exc.message) from exc
        if any(not 0 < len(value.get_secret_value()) <= MAX_SECRET for value in self.secrets.values()):
            raise ValueError(f"a secret has 1 to {MAX_SECRET} characters")
        if missing := {step.secret for step in steps if step.do is Do.FILL} - set(self.secrets):
            raise ValueError(f"there is no value for {', '.join(sorted(missing))}")
        return self

    def revealed(self) -> dict[str, str]:
        """The secrets as plain text, for encryption."""
        return {name: value.get_secret_value() for name, value in self.secrets.items()}


class StoredLogin(NamedTuple):
    """A login as it is shown: never with secrets or session."""

    origin: str
    steps: tuple[str, ...]
    signed_in: str
    secrets: tuple[str, ...]
    """Their names; none if they were encrypted with another key."""
    state: LoginState
    problem: str | None
    """Why it failed, in words."""
    tried_at: datetime | None
    session_at: datetime | None
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Login:
    """What a visit needs."""

    origin: str
    steps: tuple[Step, ...]
    signed_in: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    session: str = field(default="", repr=False)
    """Cookies and storage as JSON; empty: sign in now, and read no page."""
    session_at: datetime | None = None
    tries: int = 0
    """Sign-ins of this crawl so far."""


class LoginTurn(NamedTuple):
    """What a page of the origin has to do now: go on with `login`, wait, or fail with `problem`."""

    login: Login | None = None
    problem: str = ""


class SignedOut(StrEnum):
    """How a page shows that its session is over."""

    NO = ""
    ASKS = "asks"
    """It asks to sign in."""
    UNSURE = "unsure"
    """It lacks what pages have that are read signed in, and asks for nothing."""


def cookie_header(session: Mapping[str, Any], url: str) -> str:
    """Cookies of a session that a browser would send to this URL."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    pairs = []
    for cookie in session.get("cookies", ()):
        domain, path = cookie["domain"], cookie["path"].rstrip("/")
        is_host = host == domain or (domain.startswith(".") and f".{host}".endswith(domain))
        is_below = not path or parts.path == path or parts.path.startswith(f"{path}/")
        if is_host and is_below and (parts.scheme == "https" or not cookie.get("secure")):
            pairs.append(f"{cookie['name']}={cookie['value']}")
    return "; ".join(pairs)
