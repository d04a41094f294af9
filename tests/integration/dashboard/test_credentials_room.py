"""Credentials in a project's settings: added, replaced, removed; what was typed is never sent back."""

import pytest
from playwright.sync_api import expect

from crawler.domain.api_keys import Scope
from crawler.domain.crawls.project import Project
from crawler.domain.hosts.credentials import CredentialKind
from tests.integration.dashboard.house import PHONE, House, serious_violations_day_and_night
from tests.integration.dashboard.test_security import Visitor, client, secret, visitor
from tests.integration.live_engine import Engine

__all__ = ["client", "visitor"]

SECRET = "hunter2-of-the-test"
ORIGIN = "http://shop.example"


def room(project: Project) -> str:
    return f"/projects/{project.id}/credentials"


def fields(**more: str) -> dict[str, str]:
    return {"origin": ORIGIN, "kind": "header", "name": "X-Key", "value": SECRET, **more}


def names(crawler: Engine, project: Project) -> list[tuple[str, str | None, str]]:
    return [(one.origin, one.kind, one.name) for one in crawler.tools.projects.credentials.list(project.id)]


def test_one_is_added_shown_without_its_value_and_removed(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project(f"{ORIGIN}/")
    added = visitor.post(room(project), fields())
    assert added.status_code == 303
    shown = visitor.get(added.headers["location"])
    assert "X-Key" in shown.text
    assert ORIGIN in shown.text
    assert SECRET not in shown.text + visitor.get(f"/projects/{project.id}/edit").text
    assert crawler.tools.credentials.headers(project.id) == {ORIGIN: (("X-Key", SECRET),)}
    visitor.post(room(project), fields(value="another"))
    assert crawler.tools.credentials.headers(project.id) == {ORIGIN: (("X-Key", "another"),)}
    removed = visitor.post(f"{room(project)}/remove", {"origin": ORIGIN, "kind": "header", "name": "X-Key"})
    assert removed.status_code == 303
    assert names(crawler, project) == []
    assert visitor.post(f"{room(project)}/remove", {"origin": ORIGIN}).status_code == 404


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"origin": ""}, "Where may it be sent?"),
        ({"origin": "shop.example"}, "must begin"),
        ({"kind": "x"}, "Choose one of the list."),
        ({"name": ""}, "What is the header or cookie called?"),
        ({"value": ""}, "Type the value."),
        ({"name": "Host"}, "set by the crawler itself"),
        ({"kind": "cookie", "value": f"{SECRET}; a=b"}, "semicolon"),
    ],
)
def test_a_mistake_is_told_and_the_value_is_not_sent_back(
    crawler: Engine,
    visitor: Visitor,
    wrong: dict[str, str],
    words: str,
) -> None:
    project = crawler.project(f"{ORIGIN}/")
    answer = visitor.post(room(project), fields(**wrong))
    assert answer.status_code == 422
    assert words in answer.text
    assert SECRET not in answer.text
    assert names(crawler, project) == []


def test_a_new_address_leaves_them_behind_and_says_so(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project(f"{ORIGIN}/")
    visitor.post(room(project), fields())
    form = {"name": project.name, "website_url": "http://new.example/", "is_active": "on", "max_pages": "10",
            "delay_seconds": "1", "max_concurrent": "1"}  # fmt: skip
    saved = visitor.post(f"/projects/{project.id}/edit", form)
    assert saved.status_code == 303, saved.text
    assert "set them again for the new one" in visitor.get(saved.headers["location"]).text
    assert names(crawler, project) == [(ORIGIN, "header", "X-Key")]
    assert "Nothing is stored for this project" in visitor.get(room(project)).text


def test_who_may_only_read_sees_names_and_no_form(crawler: Engine, client: object) -> None:
    project = crawler.project(f"{ORIGIN}/")
    crawler.tools.projects.credentials.set(project.id, ORIGIN, CredentialKind.COOKIE, "sid", SECRET)
    reader = Visitor(client, secret(crawler, Scope.READ))  # type: ignore[arg-type]
    shown = reader.get(room(project)).text
    assert "sid" in shown
    assert "<form" not in shown.partition("<main")[2].partition("</main")[0]
    assert SECRET not in shown


@pytest.mark.slow
def test_a_person_with_a_phone_stores_replaces_and_removes_one(house: House) -> None:
    project = house.engine.project(f"{ORIGIN}/")
    page = house.page(PHONE)
    page.goto(f"/projects/{project.id}/edit")
    page.get_by_role("link", name="Manage credentials").click()
    expect(page.get_by_label("Sent to")).to_have_value(ORIGIN)
    page.get_by_label("Name").fill("X-Key")
    page.get_by_label("Value").fill(SECRET)
    page.get_by_role("button", name="Save").click()
    row = page.get_by_role("row").filter(has_text="X-Key")
    expect(row).to_contain_text(ORIGIN)
    assert SECRET not in page.content()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert serious_violations_day_and_night(page) == []
    row.get_by_role("link", name="Replace").click()
    expect(page.get_by_label("Name")).to_have_value("X-Key")
    page.get_by_label("Value").fill("another")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("The credential was stored.")).to_be_visible()
    assert house.engine.tools.credentials.headers(project.id) == {ORIGIN: (("X-Key", "another"),)}
    page.get_by_role("row").filter(has_text="X-Key").get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("The credential was removed.")).to_be_visible()
    assert house.engine.tools.credentials.headers(project.id) == {}
