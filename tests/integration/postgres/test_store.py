from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest
from sqlalchemy import Engine, text

from crawler.adapters.engine.store import Store
from crawler.adapters.postgres.database import connect
from crawler.domain.api_keys import ApiKey, Scope
from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, CrawlStatus, CrawlType, EndReason
from crawler.domain.crawls.project import Project
from crawler.errors import Conflict, CrawlRunning, InvalidTransition, NotFound

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)


@pytest.fixture(scope="module")
def engine(make_module_database) -> Iterator[Engine]:  # type: ignore[no-untyped-def]
    engine = connect(make_module_database())
    yield engine
    engine.dispose()


@pytest.fixture
def store(engine: Engine) -> Iterator[Store]:
    yield Store(engine)
    with engine.begin() as db:
        db.execute(text("TRUNCATE projects, api_keys, settings CASCADE"))


def project(store: Store, name: str = "acme", **fields: object) -> Project:
    settings = CrawlConfig(max_pages=7, include_patterns=("/a/",), delay_seconds=0.25)
    return store.add_project(
        Project.create(name=name, website_url="https://acme.example/", now=NOW, settings=settings).model_copy(
            update=fields
        )
    )


def crawl(owner: Project, **fields: object) -> CrawlJob:
    created = CrawlJob.create(
        project_id=owner.id,
        seed_url="https://acme.example/",
        domain="acme.example",
        crawl_type=CrawlType.INITIAL,
        config=owner.settings,
        now=NOW,
    )
    return created.model_copy(update=fields)


def test_a_project_comes_back_as_it_went_in(store: Store) -> None:
    saved = project(store)
    assert store.get_project(saved.id) == saved
    assert store.find_project("acme") == saved
    assert store.find_project("nobody") is None


def test_a_project_is_changed_listed_and_deleted(store: Store) -> None:
    first, second = project(store, "one"), project(store, "two")
    renamed = store.save_project(first.changed(NOW, name="uno", is_active=False))
    assert store.get_project(first.id) == renamed
    assert {p.name for p in store.list_projects()} == {"uno", "two"}
    assert [p.name for p in store.list_projects(limit=1, after=min(first.id, second.id))] != []
    store.delete_project(first.id)
    with pytest.raises(NotFound):
        store.get_project(first.id)
    with pytest.raises(NotFound):
        store.delete_project(first.id)
    with pytest.raises(NotFound):
        store.save_project(renamed)


def test_a_project_name_is_used_once(store: Store) -> None:
    project(store)
    with pytest.raises(Conflict, match="already a project named 'acme'"):
        project(store)


def test_a_crawl_comes_back_as_it_went_in(store: Store) -> None:
    saved = store.add_crawl(crawl(project(store)))
    assert store.get_crawl(saved.id) == saved


def test_one_crawl_of_a_project_runs_at_a_time_and_the_refusal_names_it(store: Store) -> None:
    owner = project(store)
    running = store.add_crawl(crawl(owner))
    with pytest.raises(CrawlRunning, match=str(running.id)) as caught:
        store.add_crawl(crawl(owner))
    assert caught.value.details["crawl_id"] == str(running.id)
    assert store.find_running(owner.id) == running


def test_two_doors_at_once_start_one_crawl(store: Store) -> None:
    owner = project(store)

    def attempt(_: int) -> UUID | None:
        try:
            return store.add_crawl(crawl(owner)).id
        except CrawlRunning:
            return None

    with ThreadPoolExecutor(8) as pool:
        started = [i for i in pool.map(attempt, range(8)) if i]
    assert len(started) == 1


def test_the_same_idempotency_key_is_the_same_crawl_even_when_sent_at_once(store: Store) -> None:
    owner = project(store)
    with ThreadPoolExecutor(8) as pool:
        ids = list(pool.map(lambda _: store.add_crawl(crawl(owner), idempotency_key="k").id, range(8)))
    assert len(set(ids)) == 1
    finished = store.get_crawl(ids[0])
    store.change_crawl(finished, finished.cancel(NOW))
    assert store.add_crawl(crawl(owner), idempotency_key="k").id == ids[0], "also after it is over"


def test_a_crawl_of_a_project_that_is_gone_is_not_found(store: Store) -> None:
    owner = project(store)
    store.delete_project(owner.id)
    with pytest.raises(NotFound):
        store.add_crawl(crawl(owner))


def test_a_change_of_state_loses_against_one_that_came_first(store: Store) -> None:
    pending = store.add_crawl(crawl(project(store)))
    started = store.change_crawl(pending, pending.start(NOW))
    assert started.status is CrawlStatus.IN_PROGRESS
    with pytest.raises(InvalidTransition, match="is in_progress"):
        store.change_crawl(pending, pending.cancel(NOW))
    done = store.change_crawl(started, started.complete(EndReason.EXHAUSTED, NOW))
    assert store.get_crawl(done.id).end_reason is EndReason.EXHAUSTED
    assert store.find_running(done.project_id) is None


def test_only_an_open_crawl_is_paused(store: Store) -> None:
    pending = store.add_crawl(crawl(project(store)))
    assert store.set_paused(pending.id, NOW, paused=True).paused
    resumed = store.set_paused(pending.id, NOW, paused=False)
    store.change_crawl(resumed, resumed.cancel(NOW))
    with pytest.raises(InvalidTransition, match="nothing to pause"):
        store.set_paused(pending.id, NOW, paused=True)
    with pytest.raises(NotFound):
        store.set_paused(uuid4(), NOW, paused=True)


def test_crawls_are_listed_newest_first_and_open_ones_found(store: Store) -> None:
    owner = project(store)
    old = store.add_crawl(crawl(owner))
    store.change_crawl(old, old.cancel(NOW))
    new = store.add_crawl(crawl(owner).model_copy(update={"id": uuid4()}))
    listed = store.list_crawls(owner.id)
    assert [c.id for c in listed] == sorted((old.id, new.id), reverse=True)
    assert store.list_crawls(owner.id, before=listed[0].id) == listed[1:]
    assert [c.id for c in store.open_crawls()] == [new.id]


def test_the_crawl_history_view_has_the_shape_of_the_seed_document(store: Store, engine: Engine) -> None:
    saved = store.add_crawl(crawl(project(store)))
    with engine.begin() as db:
        row = db.execute(text("SELECT * FROM crawl_history")).one()._asdict()
    assert list(row) == [
        "id", "project_id", "crawl_type", "started_at", "completed_at", "status", "pages_crawled",
        "change_summary", "error_message",
    ]  # fmt: skip
    assert row["id"] == saved.id


def test_a_key_is_found_by_its_secret_until_it_is_revoked(store: Store) -> None:
    key, secret = ApiKey.issue(name="ci", scope=Scope.READ, now=NOW, project_ids=(uuid4(),))
    store.add_key(key)
    assert store.find_key(secret) == key
    assert store.find_key("crk_wrong") is None
    store.revoke_key(key.id, NOW)
    assert store.find_key(secret) is None
    assert [k.revoked_at for k in store.list_keys()] == [NOW]
    with pytest.raises(NotFound):
        store.revoke_key(uuid4(), NOW)
