"""Crawls over HTTP: started once, watched, steered, and told of as they are."""

from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import pytest

from crawler.domain.api_keys import Scope
from tests.integration.api.conftest import Service
from tests.integration.handmade import lay
from tests.site.client import Site


def start(service: Service, project: dict[str, str], **body: object) -> str:
    answer = service("POST", f"/projects/{project['id']}/phases/crawl/run", json={"render": "never", **body})
    assert answer.status_code == 202, answer.text
    crawl_id: str = answer.json()["crawl_id"]
    return crawl_id


def test_a_crawl_is_started_watched_and_read(service: Service, site: Site) -> None:
    lay(site, {"/": ["/a", "/b"], "/a": ["/missing"], "/b": []})
    project = service.project(site.url())
    path = f"/projects/{project['id']}/phases/crawl/status"
    before = service.get(path)
    assert (before["status"], before["crawl_id"], before["progress"]) == ("pending", None, 0)
    crawl_id = start(service, project, delay_seconds=0, max_pages=50)
    waiting = service.get(path)
    assert (waiting["status"], waiting["crawl_id"], waiting["estimated_total"]) == ("pending", crawl_id, 50)
    tools = service.engine.tools
    service.engine.run(tools.crawls.seed(tools.store.list_crawls(tools.store.get_project(project["id"]).id)[0].id))
    done = service.get(path)
    assert (done["status"], done["progress"], done["pages_crawled"], done["estimated_total"]) == (
        "completed",
        100,
        3,
        3,
    )
    assert done["stats"]["by_reason"]["not_found"] == 1
    crawl = service.get(f"/crawl/{crawl_id}", include="urls")
    assert (crawl["status"], crawl["end_reason"], crawl["notebook_id"]) == ("completed", "exhausted", project["id"])
    assert {url["fetch_state"] for url in crawl["discovered_urls"]} == {"done", "skipped"}
    assert service.get(f"/crawl/{crawl_id}")["discovered_urls"] is None
    assert service.get(f"/projects/{project['id']}")["phase_status"] == "completed"
    assert service.get(f"/projects/{project['id']}")["settings"]["delay_seconds"] == 0, "the first crawl's options stay"


def test_only_one_crawl_of_a_project_runs_and_the_refusal_names_it(service: Service) -> None:
    project = service.project()
    crawl_id = start(service, project)
    for path, body in (
        (f"/projects/{project['id']}/phases/crawl/run", {}),
        (f"/notebooks/{project['id']}/crawl", {"url": "http://example.org/"}),
    ):
        again = service("POST", path, json=body)
        assert (again.status_code, again.json()["code"]) == (409, "crawl_running")
        assert again.json()["crawl_id"] == crawl_id
        assert crawl_id in again.json()["detail"]


def test_a_crawl_of_an_unknown_project_is_not_found(service: Service) -> None:
    missing = uuid4()
    for path, body in (
        (f"/projects/{missing}/phases/crawl/run", None),
        (f"/notebooks/{missing}/crawl", {"url": "http://a.b/"}),
    ):
        answer = service("POST", path, json=body)
        assert (answer.status_code, answer.json()["detail"]) == (404, f"There is no project {missing}.")


def test_cancelling_is_done_once_and_may_be_asked_for_again(service: Service) -> None:
    crawl_id = start(service, service.project())
    assert [service("POST", f"/crawl/{crawl_id}/cancel").status_code for _ in range(2)] == [204, 204]
    assert service.get(f"/crawl/{crawl_id}")["status"] == "cancelled"
    assert service("POST", f"/crawl/{crawl_id}/pause").status_code == 409


def test_a_crawl_that_ended_cannot_be_cancelled(service: Service, site: Site) -> None:
    lay(site, {"/": []})
    crawl = service.engine.crawl(site.url())
    answer = service("POST", f"/crawl/{crawl.id}/cancel")
    assert (answer.status_code, answer.json()["code"]) == (409, "invalid_transition")
    assert service("POST", f"/crawl/{crawl.id}/retry-failed").json() == {"crawl_id": str(crawl.id), "urls": 0}


def test_a_paused_crawl_says_so_and_goes_on(service: Service, site: Site) -> None:
    lay(site, {"/": []})
    project = service.project(site.url())
    crawl_id = start(service, project, delay_seconds=0)
    assert service("POST", f"/crawl/{crawl_id}/pause").json()["paused"] is True
    assert service.get(f"/projects/{project['id']}/phases/crawl/status")["paused"] is True
    assert service("POST", f"/crawl/{crawl_id}/resume").json()["paused"] is False


def test_deleting_a_project_ends_its_crawl_first(service: Service, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    project = service.project(site.url())
    start(service, project, delay_seconds=0)
    tools = service.engine.tools
    crawl = tools.crawls.seed(tools.store.open_crawls()[0].id)
    assert tools.frontier.stats(crawl.id) is not None
    assert service("DELETE", f"/projects/{project['id']}").status_code == 204
    assert tools.frontier.stats(crawl.id) is None
    service.engine.shift()
    assert site.requests() == []
    assert service.engine.rows("SELECT 1 FROM crawl_discovered_urls") == []


def test_a_list_of_urls_is_fetched_and_nothing_else(service: Service, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": ["/b"], "/b": []})
    project = service.project(None)
    crawl_id = start(service, project, fetch_only_urls=[site.url("/a")], delay_seconds=0)
    tools = service.engine.tools
    service.engine.run(tools.crawls.seed(tools.store.open_crawls()[0].id))
    crawl = service.get(f"/crawl/{crawl_id}")
    assert (crawl["crawl_type"], crawl["pages_crawled"]) == ("fetch_only", 1)


def test_a_project_without_a_website_needs_a_seed(service: Service) -> None:
    project = service.project(None)
    answer = service("POST", f"/projects/{project['id']}/phases/crawl/run")
    assert answer.status_code == 422
    assert "seed_url" in answer.json()["detail"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"max_pages": 100_001}, "invalid_config"),
        ({"max_pages": -1}, "invalid_request"),
        ({"seed_url": "http://[::ffff:7f00:1"}, "invalid_url"),
        ({"fetch_only_urls": ["javascript:alert(1)"]}, "invalid_url"),
        ({"fetch_only_urls": ["http://example.org/"] * 10_001}, "invalid_request"),
        ({"include_patterns": ["["]}, "invalid_pattern"),
        ({"allowed_hosts": ["a b"]}, "invalid_url"),
        ({"colour": "red"}, "invalid_request"),
    ],
)
def test_options_that_make_no_crawl_are_refused_and_start_nothing(
    service: Service, body: dict[str, object], code: str
) -> None:
    project = service.project()
    answer = service("POST", f"/projects/{project['id']}/phases/crawl/run", json=body)
    assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
    assert service.get(f"/projects/{project['id']}/crawl-history")["items"] == []


# -- notebooks --------------------------------------------------------------------------------


def test_a_notebook_crawl_has_the_seeds_shape_and_defaults(service: Service) -> None:
    project = service.project(None)
    body = {"url": "http://example.org/docs", "url_include_pattern": "a{1,3}"}
    made = service("POST", f"/notebooks/{project['id']}/crawl", json=body)
    assert (made.status_code, list(made.json())) == (201, ["id"])
    (crawl,) = service.get(f"/notebooks/{project['id']}/crawl")["items"]
    assert crawl["id"] == made.json()["id"]
    assert (crawl["max_depth"], crawl["max_pages"], crawl["domain"]) == (2, 50, "example.org")
    assert (crawl["url_include_pattern"], crawl["url_exclude_pattern"]) == ("a{1,3}", None), "a comma does not split it"
    assert crawl["config"]["use_sitemaps"] is False


# -- once -------------------------------------------------------------------------------------


def test_the_same_start_sent_many_times_at_once_is_one_crawl(service: Service) -> None:
    path = f"/projects/{service.project()['id']}/phases/crawl/run"

    def send(_: int) -> tuple[int, str]:
        answer = service("POST", path, json={"max_pages": 5}, headers={"Idempotency-Key": "once"})
        return answer.status_code, answer.json().get("crawl_id", "")

    with ThreadPoolExecutor(8) as pool:
        answers = set(pool.map(send, range(16)))
    assert len(answers) == 1
    assert answers.pop()[0] == 202
    other = service("POST", path, json={"max_pages": 6}, headers={"Idempotency-Key": "once"})
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert len(service.engine.rows("SELECT 1 FROM crawl_jobs")) == 1


def test_a_start_whose_answer_was_lost_with_the_process_is_still_the_same_crawl(service: Service) -> None:
    path, key = f"/projects/{service.project()['id']}/phases/crawl/run", {"Idempotency-Key": "once"}
    first = service("POST", path, headers=key).json()
    with service.engine.tools.database.begin() as db:
        db.exec_driver_sql(
            "UPDATE http_answers SET status = NULL, answer = NULL, claimed_at = now() - interval '2 minutes'"
        )
    assert service("POST", path, headers=key).json() == first


@pytest.mark.parametrize("key", ["", "x" * 201, "two words", "ü"])
def test_a_key_that_is_none_is_refused_for_a_start(service: Service, key: str) -> None:
    answer = service("POST", "/projects", json={"name": "x"}, headers={"Idempotency-Key": key.encode()})
    assert answer.status_code == 422


def test_a_status_that_did_not_change_is_not_sent_again(service: Service) -> None:
    project = service.project()
    crawl_id = start(service, project)
    for path in (f"/projects/{project['id']}/phases/crawl/status", f"/crawl/{crawl_id}"):
        tag = service("GET", path).headers["etag"]
        assert service("GET", path, headers={"If-None-Match": tag}).status_code == 304
    service("POST", f"/crawl/{crawl_id}/cancel")
    for path in (f"/projects/{project['id']}/phases/crawl/status", f"/crawl/{crawl_id}"):
        assert service("GET", path, headers={"If-None-Match": tag}).status_code == 200


def test_crawls_of_all_projects_come_newest_first_and_a_limited_key_sees_its_own(service: Service) -> None:
    projects = [service.project(f"http://{name}.example/", name) for name in ("one", "two", "three")]
    crawls = [start(service, project) for project in projects]
    assert [crawl["id"] for crawl in service.get("/crawls")["items"]] == crawls[::-1]
    part = service.get("/crawls", limit=2)
    rest = service.get("/crawls", limit=2, cursor=part["next_cursor"])
    assert ([crawl["id"] for crawl in rest["items"]], rest["next_cursor"]) == (crawls[:1], None)
    assert [crawl["id"] for crawl in service.get("/crawls", project_id=projects[0]["id"])["items"]] == crawls[:1]
    assert [crawl["id"] for crawl in service.get("/crawls", begins=crawls[1].upper()[:34])["items"]] == crawls[1:2]
    assert service.get("/crawls", begins="no id")["items"] == []
    limited = service.as_(Scope.READ, projects[1]["id"])
    assert [crawl["id"] for crawl in limited.get("/crawls")["items"]] == crawls[1:2]
    assert limited.get("/crawls", begins=crawls[0][:34])["items"] == []
    assert limited("GET", "/crawls", params={"project_id": projects[0]["id"]}).status_code == 404

    service("POST", "/queue", json={"urls": ["http://listed.example/"]})
    service("POST", "/queue/run")
    assert [crawl["id"] for crawl in service.get("/crawls")["items"]] == crawls[::-1], "no batch of the queue"
    everything = service.get("/crawls", everything=True)["items"]
    assert len(everything) == 4


def test_projects_are_found_by_a_part_of_their_name_or_the_beginning_of_their_id(service: Service) -> None:
    shop = service.project("http://shop.example/", "Winter 100%")
    other = service.project("http://docs.example/", "Other")

    def found(search: str) -> list[str]:
        return [project["id"] for project in service.get("/projects", search=search)["items"]]

    assert found("") == [shop["id"], other["id"]]
    assert found("winter") == found("SHOP.ex") == found("100%") == found(shop["id"][:34]) == [shop["id"]]
    assert found("%%") == found("_") == found(shop["id"][3:30]) == []
