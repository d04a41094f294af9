"""Projects over HTTP: made, read, changed, deleted; wrong things refused with a sentence and a code."""

import time
from uuid import uuid4

import pytest
from sqlalchemy import text

from tests.integration.api.conftest import Service


def test_a_project_is_made_read_changed_and_deleted(service: Service) -> None:
    made = service.project("HTTP://Example.ORG:80/Start#top", delay_seconds=2, exclude_patterns="/a/, /b/")
    assert made["website_url"] == "http://example.org/Start"
    assert made["settings"]["exclude_patterns"] == ["/a/", "/b/"], "patterns may come as one string with commas"
    assert service.get(f"/projects/{made['id']}") == made
    assert service.get(f"/projects/{made['id'].replace('-', '')}")["id"] == made["id"], "hex is accepted"
    changed = service("PATCH", f"/projects/{made['id']}", json={"name": "New", "settings": {"max_pages": 7}}).json()
    assert (changed["name"], changed["settings"]["max_pages"], changed["settings"]["delay_seconds"]) == ("New", 7, 2)
    assert service("DELETE", f"/projects/{made['id']}").status_code == 204
    gone = service("GET", f"/projects/{made['id']}")
    assert (gone.status_code, gone.json()["code"]) == (404, "not_found")
    assert gone.json()["detail"] == f"There is no project {made['id']}."


def test_a_name_is_used_once(service: Service) -> None:
    service.project(name="one")
    again = service("POST", "/projects", json={"name": "one"})
    assert (again.status_code, again.json()["code"]) == (409, "conflict")
    other = service.project(name="two")
    renamed = service("PATCH", f"/projects/{other['id']}", json={"name": "one"})
    assert renamed.status_code == 409


@pytest.mark.quick(6)
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"name": ""}, "invalid_request"),
        ({"name": "x" * 201}, "invalid_request"),
        ({"name": "two\nlines"}, "invalid"),
        ({"name": "nul\x00"}, "invalid_request"),
        ({"name": "x", "website_url": "ftp://example.org"}, "invalid_url"),
        ({"name": "x", "website_url": "http://127.1\\@example.org/"}, "invalid_url"),
        ({"name": "x", "website_url": "http://2130706433/"}, "invalid_url"),
        ({"name": "x", "websiteurl": "http://example.org"}, "invalid_request"),
        ({"name": "x", "settings": {"max_pages": 0}}, "invalid_request"),
        ({"name": "x", "settings": {"max_pages": 200_000}}, "invalid_config"),
        ({"name": "x", "settings": {"delay_seconds": "NaN"}}, "invalid_request"),
        ({"name": "x", "settings": {"allowed_hosts": ["not a host"]}}, "invalid_url"),
        ({"name": "x", "settings": {"max_page": 3}}, "invalid_request"),
        ({"name": "x", "settings": {"max_links_per_page": 10**30}}, "invalid_request"),
        ({"name": "x", "settings": {"hash_chars": 10**30}}, "invalid_request"),
        ({"name": "x", "settings": {"meaningful_params": ["x" * 201]}}, "invalid_request"),
        ({"name": "x", "settings": {"render_rule": {"statuses": [10**30]}}}, "invalid_request"),
        ({"name": "x", "settings": {"allowed_hosts": [f"{'a' * 250}.example"] * 1000}}, "invalid_request"),
        ([], "invalid_request"),
        (None, "invalid_request"),
    ],
)
def test_what_is_no_project_is_refused(service: Service, body: object, code: str) -> None:
    answer = service("POST", "/projects", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "content", [b"{", b"\xff\xfe{}", b'{"name": "\\ud800"}', b'{"name": 1e999999}', b"[" * 40_000, b'{"name": "x", }']
)
def test_what_is_no_json_is_refused(service: Service, content: bytes) -> None:
    answer = service("POST", "/projects", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_body_that_is_too_large_is_not_read(service: Service) -> None:
    told = service("POST", "/projects", content=b"x" * (5 << 20))
    untold = service("POST", "/projects", content=iter([b'{"name": "', *[b"x" * (1 << 20)] * 5]))
    for answer in (told, untold):
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_unknown_paths_and_methods_are_problems_too(service: Service) -> None:
    nowhere = service("GET", "/nowhere")
    assert (nowhere.status_code, nowhere.json()["code"]) == (404, "no_such_path")
    method = service("PUT", "/projects")
    assert (method.status_code, method.json()["code"]) == (405, "method_not_allowed")
    assert service("GET", f"/projects/{uuid4()}/").status_code == 404, "no redirect to guess at"
    assert service("GET", "/projects/no-uuid").status_code == 422


# -- patterns (B16) ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(?=a)", "not a valid regular expression"),
        ("(a", "not a valid regular expression"),
        (r"(a)\1", "not a valid regular expression"),
        ("a{1001}", "not a valid regular expression"),
        ("((a{1000}){1000})", "not a valid regular expression"),
    ],
)
def test_a_pattern_that_cannot_be_used_is_refused_with_its_reason(service: Service, pattern: str, words: str) -> None:
    answer = service("POST", "/projects", json={"name": "x", "settings": {"include_patterns": [pattern]}})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_pattern")
    assert words in answer.json()["detail"]


@pytest.mark.parametrize("patterns", [["a" * 200_000], ["a"] * 1000, [""], ["x" * 513]])
def test_patterns_without_measure_are_refused(service: Service, patterns: list[str]) -> None:
    answer = service("POST", "/projects", json={"name": "x", "settings": {"exclude_patterns": patterns}})
    assert answer.status_code == 422
    assert len(answer.text) < 5000


def test_hostile_patterns_take_linear_time(service: Service) -> None:
    project = service.project()
    urls = [f"http://example.org/{'a' * 1900}!", *[f"http://example.org/{n}" for n in range(50)]]
    body = {"urls": urls, "config": {"exclude_patterns": ["(a+)+$", "(a|a)*b", "(.*)*x$"]}}
    times = []
    for _ in range(5):
        began = time.perf_counter()
        answer = service("POST", f"/projects/{project['id']}/scope/preview", json=body)
        times.append(time.perf_counter() - began)
        assert answer.status_code == 200
    assert min(times) < 0.2


# -- preview ----------------------------------------------------------------------------------


def test_the_preview_says_of_each_url_whether_and_by_which_rule(service: Service) -> None:
    project = service.project("http://example.org/", include_patterns=["/docs/"])
    urls = [
        "http://www.example.org/",
        "http://example.org/docs/a?utm_source=x",
        "/docs/relative",
        "http://example.org/blog",
        "http://other.org/docs/",
        "mailto:x@example.org",
        "http://user:pw@example.org/docs/",
        "http://example.org/" + "x" * 3000,
    ]
    found = service("POST", f"/projects/{project['id']}/scope/preview", json={"urls": urls}).json()["urls"]
    assert [(row["admitted"], row["priority"], row["reason"]) for row in found] == [
        (True, 0, None),
        (True, 1, None),
        (True, 1, None),
        (False, None, "not_included"),
        (False, None, "off_domain"),
        (False, None, "scheme"),
        (False, None, "egress"),
        (False, None, "too_long"),
    ]
    assert found[1]["normalized_url"] == "http://example.org/docs/a"
    assert found[1]["rule"] == "include pattern '/docs/'"
    tried = {"urls": urls[3:4], "config": {"include_mode": "prefer"}}
    assert service("POST", f"/projects/{project['id']}/scope/preview", json=tried).json()["urls"][0]["admitted"]
    assert service.get(f"/projects/{project['id']}")["settings"]["include_mode"] == "only", "nothing was saved"


@pytest.mark.parametrize(
    ("spellings", "key"),
    [
        (["http://EXAMPLE.org:80/A/", "http://example.org./a", "http://example.org/%61#x"], "http://example.org/a"),
        (["http://example.org/a/%2e%2e/b", "http://example.org/b/"], "http://example.org/b"),
        (["http://bücher.example/", "http://xn--bcher-kva.example"], "http://xn--bcher-kva.example/"),
        (
            ["http://example.org/?" + "&".join(f"q{n}={n}" for n in range(100)), "http://example.org"],
            "http://example.org/",
        ),
    ],
)
def test_spellings_of_one_url_have_one_key(service: Service, spellings: list[str], key: str) -> None:
    project = service.project(spellings[0].replace("?", "#"))
    found = service("POST", f"/projects/{project['id']}/scope/preview", json={"urls": spellings}).json()["urls"]
    assert {row["normalized_url"] for row in found} == {key}


# -- lists ------------------------------------------------------------------------------------


def test_a_list_goes_on_where_it_stopped_although_others_are_added(service: Service) -> None:
    names = [f"p{n}" for n in range(5)]
    for name in names:
        service.project(name=name)
    first = service.get("/projects", limit=2)
    service.project(name="added")
    seen = [project["name"] for project in first["items"]]
    cursor = first["next_cursor"]
    while cursor:
        part = service.get("/projects", limit=2, cursor=cursor)
        seen += [project["name"] for project in part["items"]]
        cursor = part["next_cursor"]
    assert seen == [*names, "added"]


@pytest.mark.parametrize(
    "cursor",
    ["x", "AAAA", "W10", "eyJhIjoxfQ", "WyJwYWdlcyIsImEiXQ", "WyJwcm9qZWN0cyIsIngiXQ", "é", "\x00", "[" * 5000],
)
def test_a_cursor_of_somewhere_else_is_refused(service: Service, cursor: str) -> None:
    answer = service("GET", "/projects", params={"cursor": cursor})
    assert answer.status_code == 422
    assert answer.json()["code"] in {"invalid_cursor", "invalid_request"}


@pytest.mark.parametrize("limit", ["0", "-1", "201", "1e9", "x", "9" * 400])
def test_a_limit_has_its_limits(service: Service, limit: str) -> None:
    assert service("GET", "/projects", params={"limit": limit}).status_code == 422


def test_a_project_that_did_not_change_is_not_sent_again(service: Service) -> None:
    path = f"/projects/{service.project()['id']}"
    tag = service("GET", path).headers["etag"]
    same = service("GET", path, headers={"If-None-Match": f'"other", {tag}'})
    assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
    service("PATCH", path, json={"flagged_for_review": True})
    assert service("GET", path, headers={"If-None-Match": tag}).status_code == 200


def test_a_project_made_twice_with_one_key_is_made_once(service: Service) -> None:
    key = {"Idempotency-Key": "abc"}
    first, again = (service("POST", "/projects", json={"name": "one"}, headers=key) for _ in range(2))
    assert first.status_code == again.status_code == 201
    assert first.json() == again.json()
    other = service("POST", "/projects", json={"name": "two"}, headers=key)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert len(service.get("/projects")["items"]) == 1
    refused = service("POST", "/projects", json={"name": "one"}, headers={"Idempotency-Key": "another"})
    assert refused.status_code == 409
    service("DELETE", f"/projects/{first.json()['id']}")
    retried = service("POST", "/projects", json={"name": "one"}, headers={"Idempotency-Key": "another"})
    assert retried.status_code == 201, "a refusal is not remembered"


def test_options_that_cannot_be_read_any_more_hide_no_project(service: Service) -> None:
    """One row of an older version, or of somebody who got a number through, and nobody could list projects."""
    made, other = service.project(max_pages=7), service.project(name="other")
    with service.engine.tools.database.begin() as db:
        damage = '{"max_links_per_page": 1e30, "gone": 1}'
        change = "UPDATE projects SET settings = settings || CAST(:damage AS jsonb) WHERE id = :id"
        db.execute(text(change), {"damage": damage, "id": made["id"]})
    listed = {one["id"]: one for one in service.get("/projects")["items"]}
    assert set(listed) == {made["id"], other["id"]}
    settings = listed[made["id"]]["settings"]
    assert (settings["max_pages"], settings["max_links_per_page"]) == (7, None)
