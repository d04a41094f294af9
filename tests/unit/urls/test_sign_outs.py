"""Links that end a session, and links that only speak of it."""

from dataclasses import replace

import pytest

from crawler.domain.crawls.crawl import CrawlConfig
from crawler.domain.reasons import Reason
from crawler.domain.urls.scope import Admission, Refusal, Scope
from crawler.domain.urls.sign_outs import signs_out
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


def test_only_a_crawl_that_is_signed_in_leaves_them_out() -> None:
    scope = Scope.of("https://e.example/", CrawlConfig())
    url = parse("https://e.example/logout")
    assert isinstance(scope.candidate(url, 1).verdict, Admission)
    verdict = replace(scope, is_signed_in=True, _known={}).candidate(url, 1).verdict
    assert isinstance(verdict, Refusal)
    assert verdict.reason is Reason.TRAP
    assert "signs out" in verdict.rule
