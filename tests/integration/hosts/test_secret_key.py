"""Secrets in the database have one key. A machine with another one takes no work, and says so."""

from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from cryptography.fernet import Fernet

from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.secret_key_owner import claim_secret_key
from crawler.bootstrap.fitness import refuse_unfit_machine
from crawler.domain.hosts.credentials import CredentialKind
from crawler.entrypoints.doctor import diagnose
from crawler.errors import ForeignSecretKey, Unavailable
from tests.integration.live_engine import Engine, running_engine
from tests.site.client import Site

SENTENCE = "is not the one that encrypts this database's secrets .*; set CRAWLER_SECRET_KEY to the key of the other"


@pytest.fixture
def other(engine_database: str, redis_url: str, tmp_path: Path) -> Iterator[Engine]:
    """A machine that uses the same servers, with a key of its own."""
    options = {"data_dir": tmp_path / "other", "secret_key": Fernet.generate_key().decode()}
    with running_engine(engine_database, redis_url, **options) as engine:
        yield engine


def give(engine: Engine, project_id: UUID, url: str) -> None:
    engine.tools.projects.credentials.set(project_id, url, CredentialKind.HEADER, "X-Key", "hunter2")


def secret_key_check(engine: Engine) -> tuple[bool, str]:
    (found,) = [check for check in diagnose(engine.tools, start_browser=False) if check.name == "encryption"]
    return found.ok, f"{found.message} {found.fix}"


def test_a_machine_with_another_key_starts_only_while_nothing_is_encrypted(crawler: Engine, other: Engine) -> None:
    for machine in (crawler, other, crawler):
        refuse_unfit_machine(machine.tools.settings)
        assert secret_key_check(machine)[0]
    give(crawler, crawler.project("http://127.0.0.1/").id, "http://127.0.0.1/")
    refuse_unfit_machine(crawler.tools.settings)
    with pytest.raises(SystemExit, match=SENTENCE):
        refuse_unfit_machine(other.tools.settings)
    assert secret_key_check(crawler)[0]
    is_well, told = secret_key_check(other)
    assert not is_well
    assert "Set CRAWLER_SECRET_KEY to the key of the other machines." in told


@pytest.mark.slow
def test_notification_addresses_are_secrets_too(crawler: Engine, other: Engine) -> None:
    config = {"frequency": "daily", "time": "03:00", "notification_urls": ["ntfys://a-topic"]}
    crawler.tools.notices.set_schedule(crawler.project("http://127.0.0.1/").id, config)
    with pytest.raises(SystemExit, match=SENTENCE):
        refuse_unfit_machine(other.tools.settings)


def test_nobody_encrypts_with_a_second_key(crawler: Engine, other: Engine) -> None:
    """Both may have started before there was anything to encrypt."""
    for machine in (other, crawler, other):
        refuse_unfit_machine(machine.tools.settings)
    project = crawler.project("http://127.0.0.1/")
    give(crawler, project.id, "http://127.0.0.1/")
    with pytest.raises(Unavailable, match=SENTENCE):
        give(other, project.id, "http://127.0.0.2/")
    assert [one.origin for one in crawler.tools.credentials.listed(project.id)] == ["http://127.0.0.1"]


@pytest.mark.slow
def test_a_machine_with_another_key_gives_back_what_it_took(crawler: Engine, other: Engine, site: Site) -> None:
    innocent = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0})
    project = crawler.project(site.url())
    give(crawler, project.id, site.url())
    secret = crawler.start(project, config={"delay_seconds": 0})
    with pytest.raises(ForeignSecretKey, match=SENTENCE):
        other.shift()
    for crawl in (innocent, secret):
        stats = crawler.tools.frontier.stats(crawl.id)
        assert stats is not None
        assert (stats.leased, stats.in_flight) == (0, 0)
        ended = crawler.run(crawl)
        assert (ended.status, ended.pages_crawled) == ("completed", 40)


def test_when_the_key_is_lost_another_is_taken_and_only_what_it_encrypted_is_gone(
    crawler: Engine, other: Engine, site: Site
) -> None:
    project = crawler.project(site.url())
    give(crawler, project.id, site.url())
    with transaction(other.tools.database) as db:
        claim_secret_key(db, other.tools.secret_box, anew=True)
    refuse_unfit_machine(other.tools.settings)
    with pytest.raises(SystemExit, match=SENTENCE):
        refuse_unfit_machine(crawler.tools.settings)
    assert other.run(other.start(project, config={"delay_seconds": 0})).status == "completed"
    assert [one.kind for one in other.tools.credentials.listed(project.id)] == [None]
