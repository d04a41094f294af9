"""Objects that the storage has lost: whoever asks is told so, and the next crawl stores the page again."""

from datetime import timedelta
from functools import partial
from pathlib import Path
from shutil import rmtree

import pytest

from crawler.adapters.objects.object_store import FOLDERS, ObjectStore
from crawler.adapters.postgres.retention import Pruner, Retention
from crawler.domain.crawls.crawl import CrawlJob
from crawler.entrypoints.cli.app import cli
from crawler.entrypoints.cli.error_exit import exit_status
from crawler.entrypoints.http.problems import problem_of
from crawler.errors import NotFound
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.integration.pages.test_object_storage import on_these_servers
from tests.site.client import Site

WORDS = "Some words stand here."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "pages"


@pytest.fixture
def engine_settings(folder: Path) -> dict[str, object]:
    return {"snapshot_url": f"file://{folder}"}


@pytest.fixture
def crawl(crawler: Engine, site: Site) -> CrawlJob:
    lay(site, {"/": ["/a"], "/a": page(body=f"<p>{WORDS}</p>")})
    return crawler.crawl(site.url(), use_sitemaps=False)


def read(crawler: Engine, crawl: CrawlJob) -> bytes:
    return crawler.tools.pages.content.get_snapshot(crawl.project_id, crawler.page(crawl, "/a")["id"]).content


def pruner(crawler: Engine, folder: Path) -> Pruner:
    return Pruner(crawler.tools.database, Retention(7, 0, 0), ObjectStore(f"file://{folder}"))


def objects(folder: Path) -> int:
    return sum(len(ObjectStore(f"file://{folder}").list_folder(name)) for name in FOLDERS)


def test_a_lost_page_is_told_without_asking_to_try_again(crawler: Engine, crawl: CrawlJob, folder: Path) -> None:
    rmtree(folder)
    with pytest.raises(NotFound, match="is gone from the object storage") as told:
        read(crawler, crawl)
    answer = problem_of(told.value)
    assert (answer.status_code, told.value.code) == (404, "not_found")
    assert "retry-after" not in answer.headers
    assert str(folder) not in told.value.message


@pytest.mark.slow
def test_a_lost_page_that_was_asked_for_is_stored_again_though_it_did_not_change(
    crawler: Engine, crawl: CrawlJob, folder: Path
) -> None:
    rmtree(folder)
    with pytest.raises(NotFound):
        read(crawler, crawl)
    again = crawler.again(crawl)
    assert WORDS.encode() in read(crawler, again)
    assert (again.change_summary or {})["changed_page_urls"] == []
    assert objects(folder) == 1, "only what was missed"
    assert crawler.again(again).change_summary is not None
    assert objects(folder) == 1, "once is enough"


def test_a_lost_page_is_stored_again_by_whoever_crawls_the_same_bytes(
    crawler: Engine, crawl: CrawlJob, site: Site, folder: Path
) -> None:
    rmtree(folder)
    with pytest.raises(NotFound):
        read(crawler, crawl)
    lay(site, {"/b": page(body=f"<p>{WORDS}</p>")})
    other = crawler.crawl(site.url("/b"), use_sitemaps=False)
    assert other.project_id != crawl.project_id
    assert WORDS.encode() in read(crawler, crawl)


def test_prune_tells_what_is_missing_and_the_next_crawl_stores_all_of_it(
    crawler: Engine, crawl: CrawlJob, folder: Path
) -> None:
    later = crawler.tools.clock() + timedelta(days=2)
    prune = pruner(crawler, folder)
    assert prune(later).missing == 0
    rmtree(folder)
    assert (prune(later, dry_run=True).missing, prune(later).missing) == (2, 2)
    again = crawler.again(crawl)
    assert WORDS.encode() in read(crawler, again)
    assert (again.change_summary or {})["changed_page_urls"] == []
    assert prune(later).missing == 0
    assert objects(folder) == 2


def test_the_command_says_how_many_pages_are_missing(
    crawler: Engine, crawl: CrawlJob, folder: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setenv("CRAWLER_SNAPSHOT_URL", f"file://{folder}")
    on_these_servers(crawler, redis_url, monkeypatch)
    crawler.rows("UPDATE snapshots SET fetched_at = fetched_at - interval '2 days' RETURNING id")
    rmtree(folder)
    assert exit_status(partial(cli, ["prune"])) == 0
    told = capsys.readouterr()
    assert "0 objects are gone." in told.out
    assert "2 stored pages are missing in the object storage; crawl them again to have them again." in told.err


@pytest.mark.slow
def test_what_only_seemed_lost_is_read_as_before(crawler: Engine, crawl: CrawlJob, folder: Path) -> None:
    """A disk that was not mounted for a while."""
    folder.rename(away := folder.with_name("away"))
    later = crawler.tools.clock() + timedelta(days=2)
    assert pruner(crawler, folder)(later).missing == 2
    away.rename(folder)
    assert WORDS.encode() in read(crawler, crawl)
    assert pruner(crawler, folder)(later)[-2:] == (0, 0)


def test_a_place_that_is_spelled_otherwise_misses_nothing(crawler: Engine, crawl: CrawlJob, folder: Path) -> None:
    (elsewhere := folder.with_name("elsewhere")).mkdir()
    assert pruner(crawler, elsewhere)(crawler.tools.clock() + timedelta(days=2)).missing == 0


def test_exports_leave_out_what_is_lost(crawler: Engine, crawl: CrawlJob, folder: Path) -> None:
    rmtree(folder)
    assert list(crawler.tools.pages.content.project_markdown(crawl.project_id)) == []
    assert list(crawler.tools.pages.export.markdown(crawl.id)) == []
    assert list(crawler.tools.pages.export.archive(crawl.id)) == []
