import json

import pytest
from cryptography.fernet import Fernet
from pydantic import ValidationError

from crawler.adapters.postgres.secret_box import SecretBox
from crawler.domain.crawls.fetching import FetchRequest
from crawler.domain.engine.crawl_state import CrawlState
from crawler.domain.hosts.credentials import FORBIDDEN, CredentialKind, Credentials
from crawler.domain.urls.url import QueryRule, parse
from crawler.errors import Conflict, Invalid, SettingsError
from crawler.handlers.engine.crawl_context import CrawlContext, scope_of
from tests.unit.rendering.test_signals import a_crawl

ALL = Credentials.model_validate(
    {"headers": {"X-Team": "blue"}, "cookies": {"sid": "42", "lang": "de"}, "basic_auth": "me:s3cret"}
)


def test_credentials_become_headers() -> None:
    assert ALL.as_headers() == (
        ("X-Team", "blue"),
        ("Cookie", "sid=42; lang=de"),
        ("Authorization", "Basic bWU6czNjcmV0"),
    )


def test_secrets_do_not_show_in_text() -> None:
    shown = repr(ALL) + str(ALL) + ALL.model_dump_json()
    for secret in ("blue", "42", "s3cret"):
        assert secret not in shown


@pytest.mark.parametrize(
    "bad",
    [
        {"headers": {"X-A": "one\r\nX-B: two"}},
        {"headers": {"X A": "1"}},
        {"headers": {"X-A": "x" * 4001}},
        {"cookies": {"a": "1; b=2"}},
        {"cookies": {"a\n": "1"}},
        {"basic_auth": "nocolon"},
        {"unknown": 1},
        *({"headers": {name.title(): "x"}} for name in FORBIDDEN),
    ],
)
def test_what_could_smuggle_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Credentials.model_validate(bad)


def test_what_was_sealed_is_unreadable_and_opens_again() -> None:
    box = SecretBox(Fernet.generate_key().decode())
    sealed = box.seal(ALL)
    assert b"s3cret" not in sealed
    assert box.open(sealed) == ALL


def test_another_key_is_told_in_a_sentence() -> None:
    sealed = SecretBox(Fernet.generate_key().decode()).seal(ALL)
    with pytest.raises(SettingsError, match="CRAWLER_SECRET_KEY"):
        SecretBox(Fernet.generate_key().decode()).open(sealed)
    with pytest.raises(SettingsError, match="CRAWLER_SECRET_KEY is not valid"):
        SecretBox("short")


def test_a_directory_keeps_one_key_for_its_owner_alone(tmp_path) -> None:  # type: ignore[no-untyped-def]
    sealed = SecretBox.in_directory(tmp_path).seal(ALL)
    assert SecretBox.in_directory(tmp_path).open(sealed) == ALL
    (key,) = tmp_path.iterdir()
    assert key.stat().st_mode & 0o777 == 0o600
    assert json.dumps("s3cret") not in key.read_text()


def test_one_is_replaced_by_its_name_and_the_others_stay() -> None:
    now = ALL.with_one(CredentialKind.HEADER, "x-team", "red").with_one(CredentialKind.COOKIE, "SID", "43")
    assert now.as_headers() == (
        ("x-team", "red"),
        ("Cookie", "sid=42; lang=de; SID=43"),
        ("Authorization", "Basic bWU6czNjcmV0"),
    )
    assert ALL.with_one(CredentialKind.BASIC_AUTH, "", "you:other").as_headers()[-1] != ALL.as_headers()[-1]


def test_they_are_removed_one_by_one_and_named_without_values() -> None:
    assert ALL.names() == [
        (CredentialKind.HEADER, "X-Team"),
        (CredentialKind.COOKIE, "sid"),
        (CredentialKind.COOKIE, "lang"),
        (CredentialKind.BASIC_AUTH, "Authorization"),
    ]
    left = ALL
    for kind, name in ALL.names():
        left = left.without(kind, name)
    assert left == Credentials()
    assert ALL.without(CredentialKind.COOKIE, "other") == ALL


def test_what_would_be_sent_twice_is_refused() -> None:
    header = Credentials().with_one(CredentialKind.HEADER, "authorization", "Bearer x")
    cookie = Credentials().with_one(CredentialKind.HEADER, "cookie", "a=b")
    for kept, kind, name, value in (
        (header, CredentialKind.BASIC_AUTH, "", "me:x"),
        (cookie, CredentialKind.COOKIE, "c", "d"),
        (ALL, CredentialKind.HEADER, "AUTHORIZATION", "Bearer x"),
        (ALL, CredentialKind.HEADER, "Cookie", "a=b"),
    ):
        with pytest.raises(Conflict, match="exclude each other"):
            kept.with_one(kind, name, value)


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        (CredentialKind.HEADER, "X-A", "hunter2\r\nX-B: 1"),
        (CredentialKind.HEADER, "X A", "hunter2"),
        (CredentialKind.HEADER, "X" * 101, "hunter2"),
        (CredentialKind.COOKIE, "a", "hunter2; b=c"),
        (CredentialKind.COOKIE, "a", "hunter2" * 1000),
        (CredentialKind.BASIC_AUTH, "", "hunter2"),
    ],
)
def test_a_refusal_does_not_quote_the_value(kind: CredentialKind, name: str, value: str) -> None:
    with pytest.raises(Invalid, match="cannot be sent") as told:
        Credentials().with_one(kind, name, value)
    assert "hunter2" not in str(told.value)
    assert told.value.__cause__ is None


ORIGINS = {"https://shop.test": (("X-Key", "s3cret"),), "http://shop.test:8080": (("X-Key", "other"),)}


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("https://shop.test/", "s3cret"),
        ("https://SHOP.test:443/a?b=c", "s3cret"),
        ("http://shop.test:8080/", "other"),
        ("http://shop.test/", None),
        ("http://shop.test:443/", None),
        ("https://shop.test:8080/", None),
        ("https://www.shop.test/", None),
        ("https://shop.test.evil.test/", None),
        ("https://evil.test/https://shop.test/", None),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, sent: str | None) -> None:
    state = CrawlState(a_crawl(None), credentials=ORIGINS)
    context = CrawlContext(state, scope_of(state), 1, QueryRule.of(state.crawl.config))
    assert dict(context.headers_for(parse(url).href)).get("X-Key") == sent


def test_values_that_travel_with_a_request_are_not_shown() -> None:
    request = FetchRequest("https://shop.test/", headers=ORIGINS["https://shop.test"])
    state = CrawlState(a_crawl(None), credentials=ORIGINS)
    assert "s3cret" not in repr(request) + repr(state)
