"""Methods of a path: those it does not take are refused with those it takes, and HEAD is there wherever GET is."""

import re
from uuid import uuid4

import pytest

from tests.integration.api.conftest import Service
from tests.integration.handmade import lay
from tests.site.client import Site

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


@pytest.mark.slow
def test_a_refused_method_is_told_all_that_the_path_takes(service: Service) -> None:
    for path, operations in service.get("/openapi.json")["paths"].items():
        taken = {method.upper() for method in operations}
        named = re.sub(r"\{[^}]*\}", "1", path.removeprefix("/api/v1"))
        for method in set(METHODS) - taken:
            answer = service(method, named)
            allowed = set(answer.headers.get("Allow", "").split(", "))
            assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed"), (method, named)
            assert allowed == taken | ({"HEAD"} if "GET" in taken else set()), (method, named)


def test_head_is_get_without_its_body(service: Service, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    crawl = service.engine.crawl(site.url())
    for path in ("/projects", f"/crawl/{crawl.id}", f"/crawl/{crawl.id}/export?format=jsonl", f"/crawl/{uuid4()}"):
        whole, head = service("GET", path), service("HEAD", path)
        assert (head.status_code, head.content) == (whole.status_code, b""), path
        assert head.headers["Content-Type"] == whole.headers["Content-Type"]
    assert service.client.head("/login").status_code == 200
    assert service.client.head("/api/v1/projects").status_code == 401


@pytest.mark.slow
def test_heads_of_exports_leave_none_open(service: Service, site: Site) -> None:
    lay(site, {"/": []})
    crawl = service.engine.crawl(site.url())
    codes = [service("HEAD", f"/crawl/{crawl.id}/export?format=jsonl").status_code for _ in range(20)]
    assert codes == [200] * 20
