"""A crawl as a web archive: a standard reader finds every stored page, with the bytes and the answer it came in."""

import io

from warcio.archiveiterator import ArchiveIterator

from crawler.domain.exports.files import Rows
from crawler.domain.exports.warc_export import as_warc
from tests.integration.handmade import lay, page
from tests.integration.live_engine import Engine
from tests.site.client import Site


def records(crawler: Engine, crawl_id: object) -> list[tuple[str, str, str, bytes, object]]:
    archive = b"".join(as_warc(crawler.tools.pages.export.archive(crawl_id)))  # type: ignore[arg-type]
    found = []
    for record in ArchiveIterator(io.BytesIO(archive), check_digests="raise"):
        body = record.content_stream().read()
        named = record.rec_headers.get_header
        found.append((record.rec_type, named("WARC-Target-URI"), named("WARC-Date"), body, record.http_headers))
    return found


def test_every_stored_page_is_a_response_with_its_request(crawler: Engine, site: Site) -> None:
    lay(site, {"/": ["/a"], "/a": page(body="<p>Äpfel &amp; Birnen</p>")})
    crawl = crawler.crawl(site.url())
    found = records(crawler, crawl.id)
    assert [kind for kind, *_ in found] == ["warcinfo"] + ["response", "request"] * 2
    home, asked, below, *_ = found[1:]
    assert (home[1], below[1]) == (site.url("/"), site.url("/a"))
    assert "Äpfel".encode() in below[3]
    assert home[4].get_statuscode() == "200"  # type: ignore[attr-defined]
    assert home[4].get_header("content-type").startswith("text/html")  # type: ignore[attr-defined]
    assert int(home[4].get_header("content-length")) == len(home[3])  # type: ignore[attr-defined]
    assert (asked[4].protocol, asked[4].statusline) == ("GET", "/ HTTP/1.1")  # type: ignore[attr-defined]
    assert asked[4].get_header("host") == f"127.0.0.1:{site.port}"  # type: ignore[attr-defined]
    assert crawler.tools.pages.export.count(crawl.id, Rows.ARCHIVE) == 2


def test_a_page_that_had_not_changed_is_there_with_its_first_answer_and_a_revisit(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page(body="<p>Always the same.</p>")})
    first = crawler.crawl(site.url())
    again = crawler.again(first)
    ((_, _, received, body, _),) = [row for row in records(crawler, first.id) if row[0] == "response"]
    kinds = {kind: (at, content) for kind, _, at, content, _ in records(crawler, again.id)}
    assert kinds["response"] == (received, body)
    assert kinds["revisit"][0] > received
    assert "revisit" not in {kind for kind, *_ in records(crawler, first.id)}


def test_cookies_and_the_way_the_bytes_came_are_in_no_archive(crawler: Engine, site: Site) -> None:
    lay(site, {"/": page(body="<p>hello</p>")})
    site.set_fault("/", headers={"Set-Cookie": "session=secret", "X-Kept": "yes"})
    crawl = crawler.crawl(site.url())
    (answer,) = [row[4] for row in records(crawler, crawl.id) if row[0] == "response"]
    names = {name.lower() for name, _ in answer.headers}  # type: ignore[attr-defined]
    assert "x-kept" in names
    assert not names & {"set-cookie", "transfer-encoding", "content-encoding"}
