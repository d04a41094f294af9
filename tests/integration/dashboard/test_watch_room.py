"""What is watched, in the dashboard: written, tried, saved, changed and removed."""

from urllib.parse import urlencode

import pytest

from tests.integration.dashboard.test_security import Visitor, client, visitor
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

__all__ = ["client", "visitor"]

FIELDS = {
    "name": "Lamps",
    "pattern": "/lamp$",
    "watch": "p.cost\nxpath://h1",
    "fields": "price = price .cost\nlink = text a@href",
    "tell": "price below 100\ncontains <b>sale</b>",
    "match": "any",
    "priority": "3",
}


def test_a_rule_is_tried_saved_changed_and_removed(crawler: Engine, site: Site, visitor: Visitor) -> None:
    lay(site, {"/": ["/lamp"], "/lamp": page("/", body="<h1>Lamp</h1><p class=cost>119,00 €</p>")})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    room = f"/projects/{crawl.project_id}/watched"
    assert "Everything counts" in visitor.get(room).text
    tried = visitor.get(f"{room}/rule?{urlencode(FIELDS)}").text
    assert "119.00 €" in tried
    assert "Save this rule" in tried
    manage = crawler.tools.watching.manage
    assert manage.list_rules(crawl.project_id) == [], "looking adds nothing"
    assert "nothing to try it on" in visitor.get(f"{room}/trial?{urlencode(FIELDS)}").text
    assert visitor.post(room, FIELDS).status_code == 303
    (rule,) = manage.list_rules(crawl.project_id)
    assert (rule.name, rule.priority, rule.watch, len(rule.fields)) == ("Lamps", 3, ("p.cost", "xpath://h1"), 2)
    shown = visitor.get(room).text
    assert "Lamps" in shown
    assert "<b>sale" not in shown
    again = visitor.get(f"{room}/rule?rule={rule.id}").text
    assert "price = price .cost" in again
    assert "price below 100" in again
    visitor.post(f"{room}/switch", {"rule": str(rule.id)})
    visitor.post(room, {**FIELDS, "rule": str(rule.id), "tell": "", "products": "1"})
    (changed,) = manage.list_rules(crawl.project_id)
    assert (changed.id, changed.tell, changed.products, changed.enabled) == (rule.id, None, True, False)
    visitor.post(f"{room}/remove", {"rule": str(rule.id)})
    assert manage.list_rules(crawl.project_id) == []
    assert visitor.post(f"{room}/remove", {"rule": str(rule.id)}).status_code == 404


def test_a_mistake_is_told(crawler: Engine, visitor: Visitor) -> None:
    room = f"/projects/{crawler.project('http://shop.example/').id}/watched"
    for wrong, words in (
        ({"fields": "price"}, "Values: a line reads NAME = WHAT"),
        ({"fields": "price = b..c"}, "Values (price): "),
        ({"watch": "div..a"}, "CSS selector"),
        ({"watch": "p", "priority": "high"}, "whole number"),
        ({"tell": "sometimes"}, "a condition reads like"),
    ):
        assert words in visitor.get(f"{room}/rule?{urlencode(wrong)}").text
        refused = visitor.post(room, {**wrong, "name": "Typed"})
        assert refused.status_code == 422
        assert words in refused.text
        assert 'value="Typed"' in refused.text, "what was typed stays"


def test_what_is_typed_after_the_trial_is_saved(crawler: Engine, site: Site, visitor: Visitor) -> None:
    lay(site, {"/": page(body="<h1>Lamp</h1><p class=cost>119,00 €</p>")})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    room = f"/projects/{crawl.project_id}/watched"
    tried = visitor.post(f"{room}/rule", {"watch": "p.cost", "name": "Lamp"}).text
    assert "1 page matches" in tried
    assert f'form="rule-form" formaction="{room}"' in tried, "the one form is saved, not a copy of what was tried"
    assert tried.count('name="name"') == 1


@pytest.mark.slow
def test_only_the_values_count_if_that_is_ticked(crawler: Engine, site: Site, visitor: Visitor) -> None:
    def lamp(cost: str, delivery: str) -> str:
        return page(body=f"<h1>Lamp</h1><p class=cost>{cost} €</p><p>Delivery takes {delivery} weeks.</p>")

    lay(site, {"/": lamp("119,00", "two")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    room = f"/projects/{first.project_id}/watched"
    visitor.post(room, {"fields": "price = price p.cost", "alone": "1"})
    (rule,) = crawler.tools.watching.manage.list_rules(first.project_id)
    assert rule.watch == ("p.cost",)
    shown = visitor.get(f"{room}/rule?rule={rule.id}").text
    assert 'name="alone" type="checkbox" checked' in shown
    lay(site, {"/": lamp("119,00", "three")})
    second = crawler.again(first)
    assert second.change_summary
    assert second.change_summary["summary"]["changed_pages"] == 0, "the delivery does not count"
    lay(site, {"/": lamp("99,00", "three")})
    third = crawler.again(second)
    assert third.change_summary
    assert third.change_summary["summary"]["changed_pages"] == 1


@pytest.mark.slow
def test_the_picker_is_found_from_where_rules_are_written(crawler: Engine, site: Site, visitor: Visitor) -> None:
    lay(site, {"/": page(body="<h1>Lamp</h1>")})
    crawl = crawler.crawl(site.url(), use_sitemaps=False)
    here = f"/projects/{crawl.project_id}"
    for path in (f"{here}/watched", f"{here}/watched/rule", f"/crawls/{crawl.id}"):
        assert f'href="{here}/pick"' in visitor.get(path).text, path
    (row,) = crawler.rows("SELECT id FROM crawled_pages WHERE project_id = :id", id=crawl.project_id)
    assert visitor.get(f"{here}/pick").headers["location"] == f"{here}/pages/{row['id']}/pick"
    lay(site, {"/": ["/b"], "/b": page(body="<h1>Stool</h1>")})
    crawler.again(crawl)
    assert visitor.get(f"{here}/pick").headers["location"] == f"{here}/pages?pick=true"
    assert f'{row["id"]}/pick"' in visitor.get(f"{here}/pages?pick=true").text
