"""A login in a project's settings: stored, tried, removed; what was typed is never sent back."""

from tests.integration.dashboard.test_security import Visitor, client, visitor
from tests.integration.live_engine import Engine

__all__ = ["client", "visitor"]

SECRET = "hunter2-of-the-test"
ORIGIN = "http://shop.example"
FIELDS = {
    "origin": ORIGIN,
    "steps": f"open {ORIGIN}/in\nfill #user from user\nfill #pass from password\nclick button",
    "secret_0": "me",
    "secret_1": SECRET,
}


def test_one_is_stored_tried_and_removed(crawler: Engine, visitor: Visitor) -> None:
    project = crawler.project(f"{ORIGIN}/", render="auto")
    room = f"/projects/{project.id}/logins"
    assert "No login" in visitor.get(room).text
    wrong = visitor.post(room, {**FIELDS, "steps": "press any key"})
    assert wrong.status_code == 422
    assert "is no step" in wrong.text
    assert SECRET not in wrong.text
    assert visitor.post(room, FIELDS).status_code == 303
    shown = visitor.get(room).text
    assert "Not tried yet" in shown
    assert "fill #pass from password" in shown
    assert SECRET not in shown
    assert "No worker with a browser" in visitor.post(f"{room}/try", {"origin": ORIGIN}).text
    crawler.tools.operating.live_workers.announce("renderer", ["render"])
    assert visitor.post(f"{room}/try", {"origin": ORIGIN}).status_code == 303
    crawler.tools.logins.fail(project.id, ORIGIN, "<b>Wrong</b> values.")
    assert "&lt;b&gt;Wrong" in visitor.get(room).text
    assert visitor.post(f"{room}/remove", {"origin": ORIGIN}).status_code == 303
    assert crawler.tools.projects.logins.list(project.id) == []
