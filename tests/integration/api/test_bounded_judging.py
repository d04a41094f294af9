"""The service never judges pages itself: what takes too long is refused with a sentence, and it goes on answering."""

import threading
import time

import pytest

from crawler.bootstrap import judging
from crawler.domain.api_keys import Scope
from crawler.domain.crawls.crawl import CrawlJob
from crawler.errors import JudgesBusy, TooSlowToTry
from tests.integration.api.conftest import Service
from tests.integration.dashboard.test_security import Visitor, secret
from tests.integration.handmade import lay, page
from tests.site.client import Site

SLOW, BUSY = str(TooSlowToTry()), str(JudgesBusy())


def lines(edition: str) -> str:
    return page(body="".join(f"<p>{edition}{n * 7919 % 30_011:x} of {n}</p>" for n in range(3_000)))


@pytest.fixture
def crawl(service: Service, site: Site, monkeypatch: pytest.MonkeyPatch) -> CrawlJob:
    """Compared with time enough; then people have too little of it."""
    lay(site, {"/": ["/large"], "/large": lines("a")})
    first = service.engine.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/large": lines("b")})
    crawl = service.engine.again(first)
    assert (crawl.change_summary or {})["changed_page_urls"] == [site.url("/large")]
    assert (crawl.change_summary or {})["by_hash"] == []
    for name in ("PEOPLE", "EXPORTS"):
        monkeypatch.setattr(judging, name, getattr(judging, name)._replace(page_seconds=0.002, busy_seconds=0.05))
    return crawl


def page_of(service: Service, crawl: CrawlJob) -> str:
    found = service.get(f"/projects/{crawl.project_id}/crawl-history/{crawl.id}/changes", include="pages")
    return f"/projects/{crawl.project_id}/pages/{found['changed_pages'][0]['page_id']}"


def test_what_takes_too_long_is_a_problem_with_a_stable_code_and_a_sentence(service: Service, crawl: CrawlJob) -> None:
    where, used = page_of(service, crawl), time.process_time()
    backtest = f"/projects/{crawl.project_id}/schedule/backtest"
    answers = [
        service("POST", backtest, json={"ignore_patterns": ["of 7"]}),
        service("GET", f"{where}/diff"),
        service("GET", f"{where}/markdown"),
    ]
    assert time.process_time() - used < 5
    for answer in answers:
        assert answer.headers["content-type"] == "application/problem+json"
        assert (answer.status_code, answer.json()["code"], answer.json()["detail"]) == (422, "too_slow_to_try", SLOW)
    whole = service("GET", f"/projects/{crawl.project_id}/markdown").text
    assert "This page is too large to be read." in whole


@pytest.mark.slow
def test_the_dashboard_says_it_where_the_answer_would_stand(service: Service, crawl: CrawlJob) -> None:
    visitor = Visitor(service.client, secret(service.engine))
    trial = visitor.get(f"/projects/{crawl.project_id}/noise/trial?kind=regex&value=of+7")
    assert (trial.status_code, SLOW in trial.text) == (200, True)
    shown = visitor.get(f"{page_of(service, crawl)}/markdown")
    assert (shown.status_code, SLOW in shown.text) == (200, True)


@pytest.mark.slow
def test_no_more_than_three_have_pages_judged_at_once_and_the_service_answers_meanwhile(
    service: Service, crawl: CrawlJob
) -> None:
    where, tools = page_of(service, crawl), service.engine.tools
    with tools.judging.for_people(), tools.judging.for_people(), tools.judging.pool.places.place("a light one", 0.0):
        answer = service("GET", f"{where}/markdown")
        assert (answer.status_code, answer.json()["code"], answer.json()["detail"]) == (503, "judges_busy", BUSY)
        assert service("GET", f"/projects/{crawl.project_id}").status_code == 200


@pytest.mark.slow
def test_one_caller_never_has_all_judges(service: Service, crawl: CrawlJob, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "PEOPLE", judging.PEOPLE._replace(page_seconds=30.0))
    where, tools = page_of(service, crawl), service.engine.tools
    key = tools.store.find_key(service.secret)
    assert key is not None
    with tools.judging.pool.places.place(key.id, 0.0):
        assert service("GET", f"{where}/markdown").json()["code"] == "judges_busy"
        assert service.as_(Scope.READ)("GET", f"{where}/markdown").status_code == 200
        assert BUSY in Visitor(service.client, service.secret).get(f"{where}/markdown").text
        assert BUSY not in Visitor(service.client, secret(service.engine)).get(f"{where}/markdown").text


@pytest.mark.slow
def test_one_that_hangs_does_not_hold_up_other_requests(
    service: Service, crawl: CrawlJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "PEOPLE", judging.PEOPLE._replace(page_seconds=2.0, total_seconds=2.0))
    hostile = {"ignore_selectors": ["*:has(~ * ~ * ~ * ~ .zzz)"]}
    backtest = f"/projects/{crawl.project_id}/schedule/backtest"
    codes: list[int] = []
    other = threading.Thread(target=lambda: codes.append(service("POST", backtest, json=hostile).status_code))
    other.start()
    used = time.process_time()
    assert service("GET", f"/projects/{crawl.project_id}").status_code == 200
    other.join()
    assert codes == [422]
    assert time.process_time() - used < 3, "the selector ran elsewhere"


@pytest.mark.slow
def test_a_comparison_that_failed_is_shown_with_its_reason(service: Service, crawl: CrawlJob) -> None:
    reason = "Comparing it broke 3 times (KeyError)."
    service.engine.tools.changes.diff_crawl.give_up(crawl.id, reason)
    found = service.get(f"/projects/{crawl.project_id}/crawl-history/{crawl.id}/changes")
    assert (found["state"], found["reason"], found["summary"]) == ("failed", reason, None)
    visitor = Visitor(service.client, secret(service.engine))
    for path in (f"/crawls/{crawl.id}/changes", f"/crawls/{crawl.id}"):
        assert reason in visitor.get(path).text
    assert "could not be compared" in visitor.get(f"/projects/{crawl.project_id}").text
