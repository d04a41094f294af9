"""Noise rules and backtests over HTTP."""

from typing import Any
from uuid import uuid4

import pytest

from crawler.domain.api_keys import Scope
from tests.integration.api.conftest import Service
from tests.integration.handmade import lay, page
from tests.site.client import Site


def test_a_rule_is_added_listed_switched_and_removed(service: Service) -> None:
    path = f"/projects/{service.project()['id']}/noise-rules"
    made = service("POST", path, json={"kind": "selector", "value": " .ad "})
    assert made.status_code == 201
    rule = made.json()
    assert (rule["value"], rule["enabled"], rule["origin"], rule["hits"]) == (".ad", True, "operator", 0)
    assert service.get(path)["items"] == [rule]
    off = service("PATCH", f"{path}/{rule['id']}", json={"enabled": False}).json()
    assert off == {**rule, "enabled": False}
    assert service("DELETE", f"{path}/{rule['id']}").status_code == 204
    assert service.get(path)["items"] == []
    for method, body in (("PATCH", {"enabled": True}), ("DELETE", None)):
        assert service(method, f"{path}/{rule['id']}", json=body).status_code == 404


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"kind": "selector", "value": "div..a"}, "CSS selector"),
        ({"kind": "regex", "value": "("}, "regular expression"),
        ({"kind": "numbers", "value": "x"}, "takes no value"),
        ({"kind": "learned", "value": "{}"}, "learned"),
        ({"kind": "colour"}, "kind"),
        ({"kind": "dates", "extra": 1}, "extra"),
    ],
)
def test_a_wrong_rule_is_refused_with_a_sentence(service: Service, body: dict[str, Any], words: str) -> None:
    answer = service("POST", f"/projects/{service.project()['id']}/noise-rules", json=body)
    assert answer.status_code == 422
    assert words in answer.text


def test_a_selector_that_could_take_long_is_refused_with_its_code_also_in_a_backtest(service: Service) -> None:
    project, costly = service.project()["id"], "*:has(~ * ~ * ~ * ~ .zzz)"
    refused = service("POST", f"/projects/{project}/noise-rules", json={"kind": "selector", "value": costly})
    assert (refused.status_code, refused.json()["code"]) == (422, "costly_selector")
    assert "would take long" in refused.json()["detail"]
    tried = service("POST", f"/projects/{project}/schedule/backtest", json={"ignore_selectors": [costly]})
    assert tried.status_code == 422
    assert "would take long" in tried.text


def test_a_stored_rule_that_is_not_used_any_more_says_why(service: Service) -> None:
    path = f"/projects/{service.project()['id']}/noise-rules"
    rule = service("POST", path, json={"kind": "selector", "value": ".ad"}).json()
    assert rule["problem"] is None
    with service.engine.tools.database.begin() as db:
        db.exec_driver_sql("UPDATE noise_rules SET value = 'div:has(p b)'")
    assert "would take long" in service.get(path)["rules"][0]["problem"]


def test_foreign_projects_and_readers_cannot_write_rules(service: Service) -> None:
    mine, other = service.project(name="Mine")["id"], service.project(name="Other")["id"]
    reader, writer = service.as_(Scope.READ, mine), service.as_(Scope.WRITE, mine)
    body = {"kind": "numbers"}
    assert reader("POST", f"/projects/{mine}/noise-rules", json=body).status_code == 403
    assert writer("POST", f"/projects/{other}/noise-rules", json=body).status_code == 404
    assert writer("POST", f"/projects/{other}/schedule/backtest", json={}).status_code == 404
    rule = writer("POST", f"/projects/{mine}/noise-rules", json=body).json()
    assert writer("DELETE", f"/projects/{other}/noise-rules/{rule['id']}").status_code == 404


def test_a_backtest_and_the_text_of_changes_are_told_over_http(service: Service, site: Site) -> None:
    words = "<p>{} are all the words of this page, and there are enough of them for a page.</p>"
    lay(site, {"/": ["/a"], "/a": page(body=words.format("These"))})
    first = service.engine.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/a": page(body=words.format("Those"))})
    second = service.engine.again(first)
    where = f"/projects/{first.project_id}"
    (trial,) = service("POST", f"{where}/schedule/backtest", json={"ignore_patterns": ["words of"]}).json()["crawls"]
    assert (trial["crawl_id"], trial["then"]["alert"], trial["now"]["alert"]) == (str(second.id), False, False)
    assert service("POST", f"{where}/schedule/backtest").json()["crawls"][0]["now"]["alert"]
    for wrong in ({"ignore_patterns": ["("]}, {"ignore_selectors": ["a..b"]}, {"crawls": 0}, {"colour": 1}):
        assert service("POST", f"{where}/schedule/backtest", json=wrong).status_code == 422
    assert service("POST", f"/projects/{uuid4()}/schedule/backtest", json={}).status_code == 404
    found = service.get(f"{where}/crawl-history/{second.id}/changes", include="text")
    (text,) = found["texts"]
    assert text["lines"] == [{"removed": words.format("These")[3:-4], "added": words.format("Those")[3:-4]}]
    assert found["template_changes"] == []
