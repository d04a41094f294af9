"""What is watched, in the dashboard: written, tried, saved, changed and removed."""

from urllib.parse import urlencode

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
        ({"fields": "price"}, "NAME = WHAT"),
        ({"watch": "div..a"}, "CSS selector"),
        ({"watch": "p", "priority": "high"}, "whole number"),
        ({"tell": "sometimes"}, "a condition reads like"),
    ):
        assert words in visitor.get(f"{room}/rule?{urlencode(wrong)}").text
        assert visitor.post(room, wrong).status_code == 422
