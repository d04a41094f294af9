"""Addresses of Atom feeds over HTTP: of one project, of a tag, of all; with the lines that changed."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from crawler.domain.api_keys import Scope
from crawler.domain.crawls.crawl import CrawlJob
from tests.integration.api.conftest import Service
from tests.integration.handmade import lay, page
from tests.site.client import Site


def changed(service: Service, site: Site, path: str, name: str, tags: list[str]) -> CrawlJob:
    lay(site, {path: page(body=f"<p>{name} as it was.</p>")})
    first = service.engine.crawl(site.url(path), use_sitemaps=False)
    service("PATCH", f"/projects/{first.project_id}", json={"name": name, "tags": tags})
    lay(site, {path: page(body=f"<p>{name} as it is.</p>")})
    return service.engine.again(first)


@pytest.mark.slow
def test_a_feed_of_a_tag_has_the_changes_of_its_projects_with_their_lines(service: Service, site: Site) -> None:
    lamps = changed(service, site, "/lamps", "Lamps", ["shops"])
    changed(service, site, "/ropes", "Ropes", ["makers"])
    address = service("POST", "/change-feeds", json={"tag": " Shops "}).json()["address"]
    told = service.client.get(address)
    assert told.headers["content-type"].startswith("application/atom+xml")
    assert "projects with the tag shops" in told.text
    assert f"urn:uuid:{lamps.id}" in told.text
    assert "&lt;del&gt;was.&lt;/del&gt;" in told.text
    assert "Ropes" not in told.text
    everything = service.client.get(service("POST", "/change-feeds", json={}).json()["address"]).text
    assert "Ropes" in everything
    assert "Lamps" in everything
    assert service("DELETE", "/change-feeds", params={"tag": "shops"}).status_code == 204
    assert service.client.get(address).status_code == 404


def test_who_sees_one_project_has_feeds_of_that_one_alone(service: Service) -> None:
    project = service.project()
    limited = service.as_(Scope.WRITE, project["id"])
    assert limited("POST", "/change-feeds", json={"tag": "shops"}).status_code == 403
    assert limited("POST", "/change-feeds", json={}).status_code == 403
    assert limited("POST", "/change-feeds", json={"project_id": project["id"]}).status_code == 201
    other = service.project(name="Other")
    assert limited("POST", "/change-feeds", json={"project_id": other["id"]}).status_code == 404
    assert service("POST", "/change-feeds", json={"project_id": other["id"], "tag": "x"}).status_code == 422


def test_addresses_asked_for_in_the_same_moment_are_all_given_and_one_of_them_stays(service: Service) -> None:
    given = {"project_id": service.project()["id"]}
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: service("POST", "/change-feeds", json=given), range(24)))
    assert {answer.status_code for answer in answers} == {201}
    opened = [service.client.get(answer.json()["address"]).status_code for answer in answers]
    assert opened.count(200) == 1
