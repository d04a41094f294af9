"""What holds when nobody says otherwise: each default number."""

import pytest

from crawler.config import Settings
from crawler.domain.crawls.crawl import CrawlConfig, IncludeMode, Preset, QueryParams
from crawler.domain.crawls.frontier import Priority, score


def test_a_crawl_without_options() -> None:
    config = CrawlConfig()
    assert (config.max_pages, config.max_depth, config.max_duration_seconds) == (200, None, 24 * 3600)
    assert (config.include_mode, config.preset) == (IncludeMode.ONLY, Preset.AUTO)
    assert (config.query_params, config.meaningful_params) == (QueryParams.AUTO, ("page",))
    assert (config.use_sitemaps, config.respect_robots_txt, config.hash_chars) == (True, True, None)
    assert (config.allow_subdomains, config.allowed_hosts, config.path_prefix) == (False, (), "")


def test_settings_without_an_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_TIMEOUT_SECONDS", "MAX_REDIRECTS", "MAX_BODY_BYTES", "MAX_PAGES_CEILING", "SHIFT_SECONDS"):
        monkeypatch.delenv(f"CRAWLER_{name}", raising=False)
    settings = Settings()
    assert (settings.http_timeout_seconds, settings.max_redirects, settings.max_body_bytes) == (15, 5, 5_242_880)
    assert (settings.max_pages_ceiling, settings.shift_seconds, settings.reconcile_seconds) == (1000, 20, 15)


def test_priorities_are_homepage_included_other_probe() -> None:
    assert (Priority.HOMEPAGE, Priority.INCLUDED, Priority.OTHER, Priority.PROBE) == (0, 1, 2, 3)


@pytest.mark.parametrize("priority", [0, 1, 2, 3])
@pytest.mark.parametrize("sequence", [0, 1, 2**31, 2**40 - 1])
def test_a_score_is_first_in_first_out_inside_a_priority_and_exact_in_a_double(priority: int, sequence: int) -> None:
    found = score(priority, sequence)
    assert found == priority * 2**40 + sequence
    assert float(found) == found
    assert float(found) != float(found + 1)
