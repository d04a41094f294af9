"""Pages in object storage or in a directory: everything that reads them goes on as if they were in Postgres."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from io import BytesIO
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from requests import RequestException, get
from warcio.archiveiterator import ArchiveIterator

from crawler.adapters.objects.object_store import FOLDERS, MARK, ObjectStore, name_in, read_object
from crawler.adapters.pages.export_files import ObjectFolder
from crawler.adapters.pages.move_snapshots import move_snapshots
from crawler.adapters.postgres.retention import Pruner, Retention
from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.engine import snapshots
from crawler.domain.engine.ledger import Picture
from crawler.entrypoints.cli.app import cli
from crawler.entrypoints.cli.error_exit import exit_status
from crawler.entrypoints.doctor import Check, diagnose
from crawler.errors import Invalid, NotFound, SettingsError, Unavailable
from tests.chaos.rabbit import free_ports
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site

PNG = bytes(range(24)) + b"\x08 and all the rest"
RCLONE = str(Path(sys.executable).with_name("rclone"))
KEEP_ALL = Retention(request_log_days=1, keep_versions=0, keep_crawl_days=0)


@pytest.fixture(params=["directory", pytest.param("s3", marks=pytest.mark.slow)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    if request.param == "directory":
        yield f"file://{tmp_path}/pages"
        return
    (tmp_path / "served" / "bucket").mkdir(parents=True)
    (port,) = free_ports(1)
    server = subprocess.Popen(
        [RCLONE, "serve", "s3", "--addr", f"127.0.0.1:{port}", "--auth-key", "key,secret", str(tmp_path / "served")]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "key")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
        until = time.monotonic() + 30
        while not answers(port):
            assert time.monotonic() < until
            time.sleep(0.05)
        try:
            yield f"s3://bucket/pages-{uuid4().hex}"
        finally:
            server.kill()
            server.wait()


def answers(port: int) -> bool:
    try:
        return get(f"http://127.0.0.1:{port}/", timeout=1).status_code > 0
    except RequestException:
        return False


@pytest.fixture
def engine_settings(url: str) -> dict[str, object]:
    return {"snapshot_url": url}


@pytest.mark.parametrize("url", ["directory"], indirect=True)
def test_the_doctor_tells_of_a_storage_that_keeps_nothing(
    crawler: Engine, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Check("browser", ok=True, message="It is not looked at.")
    monkeypatch.setattr("crawler.entrypoints.doctor.browser_here", lambda _: here)
    (found,) = (check for check in diagnose(crawler.tools) if check.name == "storage")
    assert found.ok
    assert url in found.message
    shutil.rmtree(tmp_path / "pages")
    (tmp_path / "pages").write_text("no directory")
    (found,) = (check for check in diagnose(crawler.tools) if check.name == "storage")
    assert not found.ok
    assert not any(check.name == "storage" for check in diagnose(crawler.tools, start_browser=False))


def places(crawler: Engine) -> set[bytes]:
    """How what is stored of each page begins."""
    return {bytes(row["content"])[:1] for row in crawler.rows("SELECT content FROM snapshots")}


def objects(url: str) -> int:
    return sum(len(ObjectStore(url).list_folder(folder)) for folder in FOLDERS)


def shown(crawler: Engine, crawl: CrawlJob) -> str:
    pages = crawler.tools.pages.content.project_markdown(crawl.project_id)
    return "".join(one.page.markdown for one in pages)


def edited(crawler: Engine, site: Site) -> CrawlJob:
    lay(site, {"/": ["/a"], "/a": page(body="<p>Old words stand here.</p>")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    lay(site, {"/a": page(body="<p>New words stand here.</p>")})
    return crawler.again(first)


@pytest.mark.slow
def test_pages_are_compared_shown_and_pruned(crawler: Engine, site: Site, url: str) -> None:
    crawl = edited(crawler, site)
    assert places(crawler) == {b"@"}
    assert (crawl.change_summary or {})["changed_page_urls"] == [site.url("/a")]
    assert "New words stand here." in shown(crawler, crawl)
    assert objects(url) == 3
    later = crawler.tools.clock() + timedelta(days=2)
    prune = Pruner(crawler.tools.database, KEEP_ALL._replace(keep_versions=1), ObjectStore(url))
    assert prune(crawler.tools.clock()).snapshots == 1
    assert objects(url) == 3, "a commit may be about to refer to it"
    prune(later)
    assert objects(url) == 2
    assert "New words stand here." in shown(crawler, crawl)


def spelled_otherwise(url: str) -> list[str]:
    """The same place, as the setting may name it another day."""
    if url.startswith("s3:"):
        return [f"{url}/", url.replace("/pages", "/p%61ges")]
    folder = Path(url.removeprefix("file://"))
    (linked := folder.with_name("linked")).symlink_to(folder)
    return [f"{url}/", f"file://{folder.parent}/./{folder.name}", f"file://{linked}"]


def test_a_page_is_kept_however_the_setting_spells_its_place(crawler: Engine, site: Site, url: str) -> None:
    crawl = edited(crawler, site)
    later = crawler.tools.clock() + timedelta(days=2)
    for other in spelled_otherwise(url):
        prune = Pruner(crawler.tools.database, KEEP_ALL, ObjectStore(other))
        assert (prune(later, dry_run=True).objects, prune(later).objects, objects(url)) == (0, 0, 3), other
    assert "New words stand here." in shown(crawler, crawl)


@pytest.mark.slow
def test_every_object_that_goes_is_counted_before_and_after(crawler: Engine, site: Site, url: str) -> None:
    edited(crawler, site)
    (version,) = crawler.rows("SELECT id FROM page_versions WHERE id NOT IN (SELECT version_id FROM crawled_pages)")
    _, picture = ObjectStore(url).put([(uuid4(), b"of a commit that failed"), (version["id"], PNG)])
    crawler.rows(
        "INSERT INTO screenshots VALUES (:id, :image, 'small') RETURNING version_id",
        id=version["id"], image=PNG[:24] + picture,
    )  # fmt: skip
    assert objects(url) == 5
    later = crawler.tools.clock() + timedelta(days=2)
    prune = Pruner(crawler.tools.database, KEEP_ALL._replace(keep_versions=1), ObjectStore(url))
    would = prune(later, dry_run=True)
    assert (would.versions, would.snapshots, would.objects) == (1, 1, 3)
    assert objects(url) == 5
    assert prune(later) == would
    assert objects(url) == 2


@pytest.mark.slow
def test_everything_moves_to_postgres_and_back(crawler: Engine, site: Site, url: str) -> None:
    crawl = edited(crawler, site)
    (version,) = crawler.rows("SELECT version_id AS id FROM crawled_pages WHERE url = :url", url=site.url("/a"))
    picture = Picture(version["id"], PNG, b"small", crawler.tools.clock())
    (reference,) = ObjectStore(url).put([(picture.version_id, PNG)])
    crawler.rows(
        "INSERT INTO screenshots VALUES (:id, :image, 'small') RETURNING version_id",
        id=version["id"], image=PNG[:24] + reference,
    )  # fmt: skip
    page_id = crawler.page(crawl, "/a")["id"]
    content = crawler.tools.pages.content
    assert content.get_screenshot(crawl.project_id, page_id).image == PNG
    assert crawler.tools.crawls.scraped_pages.find_picture(version["id"]) == PNG
    assert move_snapshots(crawler.tools.database, None) == (4, 0)
    assert (places(crawler), objects(url)) == ({b"("}, 0)
    assert content.get_screenshot(crawl.project_id, page_id).image == PNG
    assert move_snapshots(crawler.tools.database, None) == (0, 0)
    assert move_snapshots(crawler.tools.database, ObjectStore(url)) == (4, 0)
    assert (places(crawler), objects(url)) == ({b"@"}, 4)
    assert content.get_screenshot(crawl.project_id, page_id).image == PNG
    assert move_snapshots(crawler.tools.database, ObjectStore(url)) == (0, 0)
    later = crawler.tools.clock() + timedelta(days=2)
    Pruner(crawler.tools.database, KEEP_ALL, ObjectStore(url))(later)
    assert objects(url) == 4, "all are in use"


def test_what_others_keep_below_the_same_folder_is_left_alone(crawler: Engine, site: Site, url: str) -> None:
    edited(crawler, site)
    others = (f"{uuid4().hex}-{uuid4().hex[:8]}", f"ab/{uuid4().hex}", f"other/ab/{uuid4().hex}-{uuid4().hex[:8]}")
    for name in ("probe-left-behind", "exports/site.md", *others):
        ObjectStore(url).write_small(name, b"theirs")
    Pruner(crawler.tools.database, KEEP_ALL, ObjectStore(url))(crawler.tools.clock() + timedelta(days=2))
    assert [content_of(url, name) for name in others] == [b"theirs"] * 3
    assert objects(url) == 3


def test_pages_whose_object_is_gone_hold_up_no_other(crawler: Engine, site: Site, url: str) -> None:
    edited(crawler, site)
    first, *_ = crawler.rows("SELECT content FROM snapshots ORDER BY id")
    ObjectStore(url).delete([name_in(bytes(first["content"]))])
    assert move_snapshots(crawler.tools.database, None) == (2, 1)
    assert places(crawler) == {b"(", b"@"}


@pytest.mark.parametrize("found", [b"not what was written", bytes(2**20), b"@file:///etc#passwd"])
def test_what_is_damaged_never_takes_the_place_of_a_page(crawler: Engine, site: Site, url: str, found: bytes) -> None:
    edited(crawler, site)
    first, *_ = crawler.rows("SELECT content FROM snapshots ORDER BY id")
    folder, _, name = bytes(first["content"]).decode().partition("#")
    ObjectStore(folder.removeprefix("@")).write_small(name, found)
    assert move_snapshots(crawler.tools.database, None) == (2, 1)
    assert first in crawler.rows("SELECT content FROM snapshots")
    assert content_of(url, name) == found, "it is not deleted either: it may be mended there"


@pytest.mark.parametrize("found", [b"not a picture", PNG[:24] + b"@file:///etc#passwd"])
def test_no_other_file_is_shown_or_kept_as_a_picture(crawler: Engine, site: Site, url: str, found: bytes) -> None:
    """A storage that lies could otherwise have any file of this machine read."""
    crawl = edited(crawler, site)
    (version,) = crawler.rows("SELECT version_id AS id FROM crawled_pages WHERE url = :url", url=site.url("/a"))
    (reference,) = ObjectStore(url).put([(version["id"], found)])
    stored = PNG[:24] + reference
    crawler.rows(
        "INSERT INTO screenshots VALUES (:id, :image, 'small') RETURNING version_id", id=version["id"], image=stored
    )
    assert move_snapshots(crawler.tools.database, None) == (3, 1)
    assert [bytes(row["image"]) for row in crawler.rows("SELECT image FROM screenshots")] == [stored]
    with pytest.raises(Unavailable, match="damaged"):
        crawler.tools.pages.content.get_screenshot(crawl.project_id, crawler.page(crawl, "/a")["id"])


def test_many_large_pictures_are_moved_a_few_at_a_time(
    crawler: Engine, site: Site, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited(crawler, site)
    move_snapshots(crawler.tools.database, None)
    monkeypatch.setattr("crawler.adapters.pages.move_snapshots.MOST_BYTES", 1)
    put, at_once = ObjectStore.put, []

    def counted(store: ObjectStore, things: Sequence[tuple[UUID, bytes]]) -> list[bytes]:
        at_once.append(len(things))
        return put(store, things)

    monkeypatch.setattr(ObjectStore, "put", counted)
    assert move_snapshots(crawler.tools.database, ObjectStore(url)) == (3, 0)
    assert at_once == [1, 1, 1]


def test_an_object_that_is_damaged_is_told(crawler: Engine, site: Site, url: str) -> None:
    crawl = edited(crawler, site)
    for row in crawler.rows("SELECT content FROM snapshots"):
        folder, _, name = bytes(row["content"]).decode().partition("#")
        ObjectStore(folder.removeprefix("@")).write_small(name, b"not what was written")
    with pytest.raises(Unavailable, match="damaged"):
        shown(crawler, crawl)


def test_an_object_that_is_another_page_is_damaged(crawler: Engine, site: Site, url: str) -> None:
    """Whoever else writes to the storage may have exchanged them, with those of other projects, too."""
    crawl = edited(crawler, site)
    other = snapshots.snapshot(b"<p>It</p>", "text/html", crawler.tools.clock())
    for row in crawler.rows("SELECT content FROM snapshots"):
        folder, _, name = bytes(row["content"]).decode().partition("#")
        ObjectStore(folder.removeprefix("@")).write_small(name, other.content)
    with pytest.raises(Unavailable, match="damaged"):
        shown(crawler, crawl)


def test_an_object_that_is_larger_than_what_was_written_is_not_read(crawler: Engine, site: Site, url: str) -> None:
    crawl = edited(crawler, site)
    for row in crawler.rows("SELECT content FROM snapshots"):
        folder, _, name = bytes(row["content"]).decode().partition("#")
        ObjectStore(folder.removeprefix("@")).write_small(name, bytes(2**20))
    with pytest.raises(Unavailable, match="larger than what was written"):
        shown(crawler, crawl)


def test_a_page_that_the_storage_lost_is_compared_by_its_hash(crawler: Engine, site: Site, url: str) -> None:
    lay(site, {"/": ["/a"], "/a": page(body="<p>Old words stand here.</p>")})
    first = crawler.crawl(site.url(), use_sitemaps=False)
    ObjectStore(url).delete([name_in(bytes(row["content"])) for row in crawler.rows("SELECT content FROM snapshots")])
    lay(site, {"/a": page(body="<p>New words stand here.</p>")})
    assert (crawler.again(first).change_summary or {})["changed_page_urls"] == [site.url("/a")]


def test_an_object_that_is_gone_is_told(url: str) -> None:
    store = ObjectStore(url)
    (reference,) = store.put([(uuid4(), b"something")])
    assert read_object(reference) == b"something"
    store.delete([name_in(reference), name_in(reference)])
    with pytest.raises(NotFound, match="What was stored is gone"):
        read_object(reference)


def test_a_storage_that_takes_nothing_loses_no_page(crawler: Engine, site: Site, tmp_path: Path) -> None:
    lay(site, {"/": ["/a"], "/a": []})
    crawl = crawler.start(crawler.project(site.url()), config={"delay_seconds": 0, "use_sitemaps": False})
    (tmp_path / "a file").write_text("")
    crawler.tools.engine.writer._objects = ObjectStore(f"file://{tmp_path}/a%20file/below")
    with pytest.raises(Unavailable, match="The object storage at"):
        crawler.shift()
    crawler.tools.engine.writer._objects = None
    assert crawler.run(crawl).pages_crawled == 2


def on_these_servers(crawler: Engine, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWLER_DATABASE_URL", crawler.tools.database.url.render_as_string())
    monkeypatch.setenv("CRAWLER_REDIS_URL", redis_url)
    monkeypatch.setenv("CRAWLER_DATA_DIR", str(crawler.tools.settings.data_dir))


@pytest.mark.slow
def test_the_command_moves_pages_both_ways(
    crawler: Engine, site: Site, url: str, redis_url: str, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    edited(crawler, site)
    on_these_servers(crawler, redis_url, monkeypatch)
    for place, first in (("postgres", b"("), (url, b"@")):
        assert exit_status(partial(cli, ["move", "--to-snapshots", place])) == 0
        assert "3 pages and pictures were moved." in capsys.readouterr().out
        assert places(crawler) == {first}
    assert exit_status(partial(cli, ["move", "--to-snapshots", "ftp://somewhere"])) == SettingsError.exit_code
    assert "must look like s3://bucket/folder" in capsys.readouterr().err
    assert exit_status(partial(cli, ["move"])) == SettingsError.exit_code


def content_of(url: str, name: str) -> bytes:
    return read_object(MARK + f"{url}#{name}".encode())


@pytest.mark.slow
def test_exports_are_written_to_object_storage(
    crawler: Engine, site: Site, url: str, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    crawl = edited(crawler, site)
    on_these_servers(crawler, redis_url, monkeypatch)
    place, names = f"{url}/exports", ("crawl.warc.gz", "site.md")
    command = ["export", str(crawl.id), "--format", "warc", "--format", "markdown", "--json", "--output"]
    for _ in range(2):  # the second time in place of the first
        assert exit_status(partial(cli, [*command, place])) == 0
        assert json.loads(capsys.readouterr().out.splitlines()[-1])["files"] == [f"{place}/{name}" for name in names]
    assert exit_status(partial(cli, [*command, str(tmp_path / "beside")])) == 0
    records = ArchiveIterator(BytesIO(content_of(place, names[0])))
    bodies = {
        record.rec_headers.get_header("WARC-Target-URI"): record.content_stream().read()
        for record in records
        if record.rec_type == "response"
    }
    assert bodies.keys() == {site.url("/"), site.url("/a")}
    assert b"New words stand here." in bodies[site.url("/a")]
    for name in ("site.md", "markdown/a.md"):
        assert content_of(place, name) == (tmp_path / "beside" / name).read_bytes()


def test_an_export_that_breaks_off_leaves_the_one_before(url: str) -> None:
    place = ObjectFolder(url)
    place.write("crawl.warc.gz", [b"whole"])

    def broken() -> Iterator[bytes]:
        for _ in range(20):
            yield bytes(2**20)
        raise Unavailable("Postgres is gone.")

    with pytest.raises(Unavailable, match=r"Postgres is gone\."):
        place.write("crawl.warc.gz", broken())
    assert content_of(url, "crawl.warc.gz") == b"whole"


def test_a_storage_that_takes_no_exports_is_told_before_anything_is_read(tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("")
    with pytest.raises(Invalid, match="Exports cannot be written to file:"):
        ObjectFolder(f"file://{tmp_path}/a%20file/below").check()
