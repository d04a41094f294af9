"""Credentials reach the project's own origin and nobody else, and are nowhere to be read."""

import io
import logging
from pathlib import Path

from crawler.domain.hosts.credentials import Credentials
from crawler.telemetry import configure_logs
from tests.integration.live_engine import Engine
from tests.site.client import Site

SECRET = "hunter2-of-the-test"


def test_headers_are_sent_to_the_own_origin_only_and_kept_encrypted(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=2, pages=30) as site:
        other = f"127.0.0.2:{site.port}"
        project = crawler.project(site.url(), delay_seconds=0, allowed_hosts=[other])
        given = Credentials.model_validate({"headers": {"X-Key": SECRET}, "basic_auth": f"me:{SECRET}"})
        crawler.tools.store.save_secrets(project.id, crawler.tools.secret_box.seal(given))
        crawl = crawler.start(project)
        context = crawler.tools.engine.contexts.get(crawl.id, crawler.tools.frontier.stats(crawl.id).epoch)  # type: ignore[union-attr]
        assert context is not None
        assert context.headers_for(site.url("/a")) == given.as_headers()
        assert context.headers_for(site.url("/a", host=1)) == ()
        assert context.headers_for(site.url("/a").replace("http:", "https:")) == ()
        done = crawler.run(crawl)
        assert done.pages_crawled > 1
    (row,) = crawler.rows("SELECT secrets FROM projects WHERE id = :id", id=project.id)
    assert SECRET.encode() not in bytes(row["secrets"])
    stored = crawler.rows("SELECT config::text, scope::text FROM crawl_jobs")
    assert SECRET not in str(stored)


def test_logs_of_a_crawl_show_no_secret(crawler: Engine, site: Site) -> None:
    stream = io.StringIO()
    configure_logs("debug")
    handler = logging.getLogger().handlers[0]
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(stream)
    try:
        project = crawler.project(site.url(), delay_seconds=0)
        given = Credentials.model_validate({"cookies": {"sid": SECRET}})
        crawler.tools.store.save_secrets(project.id, crawler.tools.secret_box.seal(given))
        crawler.run(crawler.start(project))
    finally:
        logging.getLogger().handlers.clear()
        logging.getLogger().setLevel(logging.WARNING)
    assert "crawl_ended" in stream.getvalue()
    assert SECRET not in stream.getvalue()


def test_a_crawl_that_begins_elsewhere_takes_no_secret_along(crawler: Engine, tmp_path: Path) -> None:
    with Site(tmp_path, hosts=2, pages=4) as site:
        project = crawler.project(site.url(), delay_seconds=0)
        given = Credentials.model_validate({"headers": {"X-Key": SECRET}})
        crawler.tools.store.save_secrets(project.id, crawler.tools.secret_box.seal(given))
        crawl = crawler.start(project, seed_url=site.url("/", host=1))
        context = crawler.tools.engine.contexts.get(crawl.id, crawler.tools.frontier.stats(crawl.id).epoch)  # type: ignore[union-attr]
        assert context is not None
        assert context.headers_for(site.url("/a", host=1)) == ()
        assert context.headers_for(site.url("/a")) == given.as_headers()
