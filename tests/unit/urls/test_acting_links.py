"""Links that end a session or change something, and links that only speak of it."""

from dataclasses import replace

import pytest

from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.reasons import Reason
from crawler.domain.urls.acting_links import changes_something, signs_out
from crawler.domain.urls.scope import Admission, Refusal, Scope
from crawler.domain.urls.url import parse


@pytest.mark.parametrize(
    "path",
    [
        "/logout", "/account/log-out/", "/users/sign_out", "/Logout.php", "/signoff.aspx", "/?logout",
        "/x?action=logout", "/doku.php?id=start&do=logout&sectok=1", "/wp-login.php?action=logout&_wpnonce=5",
        "/konto/abmelden",
        "/?logout=1", "/index.php?page=a;do=signout",
    ],
)  # fmt: skip
def test_these_end_a_session(path: str) -> None:
    assert signs_out(parse(f"https://e.example{path}"))


@pytest.mark.parametrize(
    "path",
    [
        "/", "/blogout", "/logout-and-you", "/help/how-to-log-out", "/api/logout/errors", "/?q=logout+button",
        "/?title=Logouts", "/catalogoutlet", "/x?next=/logout/now",
    ],
)  # fmt: skip
def test_these_do_not(path: str) -> None:
    assert not signs_out(parse(f"https://e.example{path}"))


@pytest.mark.parametrize(
    "path",
    [
        "/posts/3/delete", "/delete/3", "/admin/user/remove/77/", "/items/4f2a9c01/destroy",
        "/a/0b2f3c4d-1111-4222-8333-444455556666/trash", "/delete.php?id=3", "/delete_user.php?user=7",
        "/removeItem.do?x=1", "/?action=delete&id=3", "/index.php?id=3&do=remove",
        "/wp-admin/post.php?post=5&action=trash", "/x?cmd=deleteUser&id=3",
        "/index.html?processname=billing&action=restart", "/index.html?action=stopall", "/x?y=1;cmd=reset",
        "/cart/?remove_item=a1b2", "/list?delete=5", "/x?op=delete_node", "/artikel/5/l%C3%B6schen", "/?_method=DELETE",
    ],
)  # fmt: skip
def test_these_change_something(path: str) -> None:
    assert changes_something(parse(f"https://e.example{path}"))


@pytest.mark.parametrize(
    "path",
    [
        "/", "/docs/commands/delete", "/docs/delete-a-project", "/delete", "/how-to/remove/", "/?q=delete",
        "/?title=Reset", "/delivery?x=1", "/silver?id=3", "/?action=delivery", "/?deleted=1", "/stopover?day=3",
        "/departures?stop=1042", "/stop/1042", "/line/7/stop",
        "/search?text=remove+item", "/reset-password-help?lang=en&x=delete", "/undelete/3/notes", "/3/details",
        "/blog/2024/removed", "/?do=show&id=delete", "/x?next=/posts/3/delete", "/model/3/delivery",
        "/?action=edit&section=2", "/?act=resetting",
    ],
)  # fmt: skip
def test_these_only_speak_of_it(path: str) -> None:
    assert not changes_something(parse(f"https://e.example{path}"))


@pytest.mark.parametrize(("path", "says"), [("/logout", "signs out"), ("/posts/3/delete", "deletes")])
def test_only_a_crawl_that_is_signed_in_leaves_them_out(path: str, says: str) -> None:
    scope = Scope.of("https://e.example/", CrawlConfig())
    url = parse(f"https://e.example{path}")
    assert isinstance(scope.candidate(url, 1).verdict, Admission)
    verdict = replace(scope, is_signed_in=True, _known={}).candidate(url, 1).verdict
    assert isinstance(verdict, Refusal)
    assert verdict.reason is Reason.TRAP
    assert says in verdict.rule
