"""Watch rules over HTTP and by the client."""

from typing import Any

import pytest

from tests.integration.api.conftest import Service
from tests.integration.handmade import lay, page
from tests.site.client import Site

RULE = {
    "pattern": "/lamp$",
    "watch": [".about", "xpath://main"],
    "fields": {"price": {"selector": ".cost", "type": "price"}, "link": "a.buy@href"},
    "tell": {"of": [{"kind": "field", "field": "price", "below": 100}, "contains sale"]},
}


def test_a_rule_is_added_shown_replaced_switched_and_removed(service: Service) -> None:
    path = f"/projects/{service.project()['id']}/watch-rules"
    made = service("POST", path, json=RULE)
    assert made.status_code == 201, made.text
    rule = made.json()
    assert rule["fields"]["link"] == {"selector": "a.buy", "type": "text", "attribute": "href", "decimal": None}
    assert [one["kind"] for one in rule["tell"]["of"]] == ["field", "contains"]
    assert "price is below 100 or it contains “sale”" in rule["described"]
    assert service("POST", path, json=RULE).json() == rule, "the same rule twice is one"
    assert service.get(path)["items"] == [rule]
    assert service.get(f"{path}/{rule['id']}") == rule
    other = service("PUT", f"{path}/{rule['id']}", json={"products": True, "priority": 5}).json()
    assert (other["id"], other["products"], other["priority"], other["fields"]) == (rule["id"], True, 5, {})
    assert service("PATCH", f"{path}/{rule['id']}", json={"enabled": False}).json() == {**other, "enabled": False}
    assert service("DELETE", f"{path}/{rule['id']}").status_code == 204
    for method, body in (("GET", None), ("PATCH", {"enabled": True}), ("PUT", RULE), ("DELETE", None)):
        assert service(method, f"{path}/{rule['id']}", json=body).status_code == 404


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "what is watched"),
        ({"watch": ["div..a"]}, "CSS selector"),
        ({"watch": ["*:has(~ * ~ * ~ .z)"]}, "would take long"),
        ({"fields": {"a": "xpath://b["}}, "XPath"),
        ({"fields": {"a": "$.["}}, "JSONPath"),
        ({"fields": {"a": {"selector": "b", "type": "colour"}}}, "type"),
        ({"products": True, "tell": {"of": ["whenever"]}}, "a condition reads like"),
        ({"products": True, "pattern": "("}, "regular expression"),
        ({"products": True, "extra": 1}, "extra"),
    ],
)
def test_a_wrong_rule_is_refused_with_a_sentence(service: Service, body: dict[str, Any], words: str) -> None:
    answer = service("POST", f"/projects/{service.project()['id']}/watch-rules", json=body)
    assert answer.status_code == 422
    assert words in answer.text


@pytest.mark.slow
def test_a_rule_is_previewed_and_tried_on_past_crawls(service: Service, site: Site) -> None:
    def laid(price: str) -> None:
        lay(site, {"/": ["/lamp"], "/lamp": page(body=f"<p class=cost>{price}</p>")})

    laid("119,00 €")
    crawl = service.engine.crawl(site.url(), use_sitemaps=False)
    path = f"/projects/{crawl.project_id}"
    rule = {"pattern": "/lamp$", "fields": {"price": "price .cost"}}
    shown = service("POST", f"{path}/watch-preview", json=rule).json()
    assert shown["matching_pages"] == 1
    assert shown["pages"][0]["fields"] == [{"field": "price", "found": True, "value": "119.00 €", "problem": None}]
    laid("99,00 €")
    second = service.engine.again(crawl)
    tried = service("POST", f"{path}/schedule/backtest", json={"watch": rule}).json()["crawls"]
    assert [reason["why"] for reason in tried[0]["now"]["reasons"]] == ["price 119.00 € → 99.00 €, −16.8 %"]
    service("POST", f"{path}/watch-rules", json=rule)
    laid("89,00 €")
    third = service.engine.again(second)
    (change,) = service.get(f"{path}/crawl-history/{third.id}/changes")["watched"]
    assert (change["words"], change["percent"]) == ("price 99.00 € → 89.00 €, −10.1 %", -10.1)


@pytest.mark.slow
def test_a_selector_is_picked_by_its_text_and_shows_what_it_named(service: Service, site: Site) -> None:
    project = service.engine.project(site.url(), use_sitemaps=False, delay_seconds=0)
    for price in (119, 99):
        lay(site, {"/": page("/", body=f"<h1>Lamp</h1><b class=cost>{price},00 €</b><b>x</b>")})
        service.engine.run(service.engine.start(project))
    path = f"/projects/{project.id}/picked"
    found = service.get(path, url=site.url(), text="99,00 €")
    assert (found["selector"], found["text"]) == ("b.cost", "99,00 €")
    assert [(one["count"], one["texts"]) for one in found["versions"]] == [(1, ["99,00 €"]), (1, ["119,00 €"])]
    assert [one["count"] for one in service.get(path, url=site.url(), selector="b")["versions"]] == [2, 2]
    assert service("GET", path, params={"url": site.url("/none"), "text": "x"}).status_code == 404
    assert service("GET", path, params={"url": site.url()}).status_code == 422
    assert service("GET", path, params={"url": site.url(), "text": "not there"}).status_code == 404


def test_patterns_that_are_tried_on_every_page_cost_little_together(service: Service) -> None:
    where = f"/projects/{service.project()['id']}/watch-rules"
    codes = [
        service("POST", where, json={"pattern": f"[ab]{{{800 + number}}}d", "products": True}).status_code
        for number in range(8)
    ]
    assert codes == [201] * 6 + [422] * 2
    assert service("POST", where, json={"pattern": "/lamps/", "products": True}).status_code == 201
