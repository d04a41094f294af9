import time
from datetime import UTC, datetime, timedelta
from itertools import product
from uuid import uuid4

import pytest
from pydantic import ValidationError

from crawler.domain.crawls.crawl import (
    MAX_TOGETHER,
    STORED,
    CrawlConfig,
    CrawlJob,
    CrawlStatus,
    CrawlType,
    EndReason,
)
from crawler.errors import InvalidPattern, InvalidTransition

NOW = datetime(2026, 3, 1, tzinfo=UTC)
LATER = NOW + timedelta(minutes=1)

ALLOWED = {
    (CrawlStatus.PENDING, CrawlStatus.IN_PROGRESS),
    (CrawlStatus.PENDING, CrawlStatus.CANCELLED),
    (CrawlStatus.IN_PROGRESS, CrawlStatus.COMPLETED),
    (CrawlStatus.IN_PROGRESS, CrawlStatus.FAILED),
    (CrawlStatus.IN_PROGRESS, CrawlStatus.CANCELLED),
}


def crawl(status: CrawlStatus = CrawlStatus.PENDING) -> CrawlJob:
    created = CrawlJob.create(
        project_id=uuid4(),
        seed_url="https://example.org/",
        domain="example.org",
        crawl_type=CrawlType.INITIAL,
        config=CrawlConfig(),
        now=NOW,
    )
    return created.model_copy(update={"status": status})


def move(job: CrawlJob, to: CrawlStatus) -> CrawlJob:
    return {
        CrawlStatus.IN_PROGRESS: lambda: job.start(LATER),
        CrawlStatus.COMPLETED: lambda: job.complete(EndReason.EXHAUSTED, LATER),
        CrawlStatus.FAILED: lambda: job.fail("no", LATER),
        CrawlStatus.CANCELLED: lambda: job.cancel(LATER),
    }[to]()


TARGETS = [status for status in CrawlStatus if status is not CrawlStatus.PENDING]


@pytest.mark.parametrize(("old", "new"), list(product(CrawlStatus, TARGETS)))
def test_only_the_allowed_changes_of_state_are_possible(old: CrawlStatus, new: CrawlStatus) -> None:
    job = crawl(old)
    if (old, new) in ALLOWED:
        moved = move(job, new)
        assert moved.status is new
        assert moved.updated_at == LATER
        assert job.status is old, "the value itself never changes"
    else:
        with pytest.raises(InvalidTransition, match=f"is {old} and cannot become {new}"):
            move(job, new)


def test_ending_a_crawl_records_when_and_why() -> None:
    done = crawl(CrawlStatus.IN_PROGRESS).complete(EndReason.MAX_PAGES, LATER)
    assert (done.end_reason, done.completed_at) == (EndReason.MAX_PAGES, LATER)
    failed = crawl(CrawlStatus.IN_PROGRESS).fail("the seed was never fetched", LATER)
    assert (failed.error_message, failed.completed_at) == ("the seed was never fetched", LATER)


def test_a_crawl_cannot_be_edited_in_place() -> None:
    with pytest.raises(ValidationError):
        crawl().status = CrawlStatus.COMPLETED  # type: ignore[misc]


@pytest.mark.parametrize("status", CrawlStatus)
def test_exactly_the_states_without_a_successor_are_over(status: CrawlStatus) -> None:
    assert status.is_over == (not any(old is status for old, _ in ALLOWED))


@pytest.mark.parametrize(
    "bad",
    [
        {"max_pages": 0},
        {"max_depth": -1},
        {"max_concurrent": 0},
        {"delay_seconds": -0.1},
        {"delay_seconds": float("nan")},
        {"max_pages": "many"},
        {"include_patterns": ["x" * 513]},
        {"include_patterns": ["x"] * 51},
        {"unknown_option": 1},
    ],
)
def test_limits_are_validated(bad: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        CrawlConfig.model_validate(bad)


def test_defaults_are_those_of_the_seed_documents() -> None:
    config = CrawlConfig()
    assert (config.max_pages, config.max_concurrent, config.delay_seconds) == (200, 5, 0.5)
    assert config.respect_robots_txt
    assert config.max_depth is None


def test_commas_split_a_string_of_patterns_but_never_a_list() -> None:
    assert CrawlConfig.model_validate({"include_patterns": "/a/, /b/"}).include_patterns == ("/a/", "/b/")
    assert CrawlConfig.model_validate({"include_patterns": ["/a{1,2}/"]}).include_patterns == ("/a{1,2}/",)


@pytest.mark.parametrize("pattern", ["(", "(?=x)", r"(a)\1", "a{1001}"])
def test_a_pattern_that_cannot_run_in_linear_time_is_refused_in_a_sentence(pattern: str) -> None:
    with pytest.raises(InvalidPattern, match="is not a valid regular expression"):
        CrawlConfig.model_validate({"exclude_patterns": [pattern]})


# ---- patterns that cost much

COSTLY = r"((\pL{10}){10}){3}"
"""358,870 states of 18 characters."""


def test_patterns_that_cost_much_are_refused_before_they_are_compiled_whole() -> None:
    """Options are checked where requests of everybody wait: a hundred of these took 34 seconds there, and 600 MB."""
    began = time.process_time()
    for n in range(20):
        with pytest.raises(InvalidPattern, match="repeats too much"):
            CrawlConfig.model_validate({"include_patterns": [f"{COSTLY}{n}{m}" for m in range(50)]})
    assert time.process_time() - began < 1


def test_many_patterns_together_cost_no_more_than_one() -> None:
    several = [f"(?:a|b{{900}}){n}" for n in range(50)]
    CrawlConfig.model_validate({"include_patterns": several[:3]})
    with pytest.raises(InvalidPattern, match=r"Up to .* the patterns repeat too much"):
        CrawlConfig.model_validate({"include_patterns": several})


def test_patterns_as_people_write_them_are_far_from_the_limit() -> None:
    each = r"(?i)^https?://[^/]+/(?:blog|news|archive)/\d{4}/\d{2}/[\w-]+(?:\.html?)?$"
    CrawlConfig.model_validate({"include_patterns": [f"{each}|/{n}/" for n in range(25)]})


def test_a_stored_pattern_that_would_be_refused_today_keeps_its_project_readable() -> None:
    stored = CrawlConfig.model_validate({"include_patterns": [COSTLY]}, context=STORED)
    assert stored.include_patterns == (COSTLY,)


def test_lists_of_options_are_short_together() -> None:
    """Lists of crawls and projects show the options of hundreds at once."""
    urls = [f"https://example.org/{number:0>600}" for number in range(100)]
    assert CrawlConfig.model_validate({"start_urls": urls}).written < MAX_TOGETHER
    long = {"start_urls": urls, "allowed_hosts": [f"{number:0>200}.example" for number in range(100)]}
    with pytest.raises(ValidationError, match="64,000 characters together"):
        CrawlConfig.model_validate(long)
    assert len(CrawlConfig.model_validate(long, context=STORED).start_urls) == 100, "what is stored stays"
