"""A crawl's stored pages as a web archive (WARC 1.1), record by record, each in a gzip member of its own.

What a server sent is a request and a response. What a browser made of a page is a resource: no server ever sent those
bytes. A page that had not changed is there with the answer of the crawl that fetched it, and a revisit says when this
crawl looked.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from http import HTTPStatus
from io import BytesIO
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit
from uuid import UUID, uuid5

from crawler.lazy_module import LazyModule

if TYPE_CHECKING:
    from warcio import statusandheaders, warcwriter
else:
    statusandheaders = LazyModule("warcio.statusandheaders")
    warcwriter = LazyModule("warcio.warcwriter")

_VERSION = "WARC/1.1"
_RECORDS = UUID("6f2f1c1e-0d1b-4f8e-9c57-5f0f5f0a7a11")
"""Ids of records are made from what they hold: in two exports of a crawl they are the same."""

# The bytes are kept as text to be read: unpacked, and in one piece.
_OF_THE_WAY = frozenset(
    {"content-encoding", "transfer-encoding", "content-length", "connection", "keep-alive", "trailer"}
)


class ArchivedPage(NamedTuple):
    """One page that the crawl stored, with the bytes it has of it."""

    url: str
    version_id: UUID
    http_status: int
    headers: dict[str, str]
    body: bytes
    rendered: bool
    received_at: datetime
    """When these bytes came."""
    looked_at: datetime
    """When this crawl asked; later, if nothing had changed."""


def as_warc(pages: Iterable[ArchivedPage]) -> Iterator[bytes]:
    held = BytesIO()
    writer = warcwriter.WARCWriter(held, gzip=True, warc_version=_VERSION)

    def written() -> bytes:
        data = held.getvalue()
        held.seek(0)
        held.truncate()
        return data

    about = {"software": "crawler", "format": "WARC File Format 1.1", "conformsTo": _CONFORMS}
    writer.write_record(writer.create_warcinfo_record("crawl.warc.gz", about))
    yield written()
    for page in pages:
        _write(writer, page)
        yield written()


_CONFORMS = "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"


def _write(writer: Any, page: ArchivedPage) -> None:
    if page.rendered:
        record = writer.create_warc_record(
            page.url,
            "resource",
            payload=BytesIO(page.body),
            length=len(page.body),
            warc_content_type=page.headers["content-type"] or "text/html; charset=utf-8",
            warc_headers_dict=_headers(page, "resource", page.received_at),
        )
    else:
        record = writer.create_warc_record(
            page.url,
            "response",
            payload=BytesIO(page.body),
            length=len(page.body),
            http_headers=_answer(page),
            warc_headers_dict=_headers(page, "response", page.received_at),
        )
    writer.write_record(record)
    if not page.rendered:
        _write_request(writer, page)
    if page.looked_at > page.received_at:
        _write_revisit(writer, page, record.rec_headers.get_header("WARC-Payload-Digest"))


def _write_request(writer: Any, page: ArchivedPage) -> None:
    """The request, as far as it is known: which other headers went along is kept nowhere."""
    parts = urlsplit(page.url)
    target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    asked = statusandheaders.StatusAndHeaders(f"GET {target} HTTP/1.1", [("Host", parts.netloc)], is_http_request=True)
    named = _headers(page, "request", page.received_at) | {"WARC-Concurrent-To": _record_id(page, "response")}
    writer.write_record(writer.create_warc_record(page.url, "request", http_headers=asked, warc_headers_dict=named))


def _write_revisit(writer: Any, page: ArchivedPage, digest: str) -> None:
    record = writer.create_revisit_record(
        page.url, digest, page.url, _date(page.received_at), warc_headers_dict=_headers(page, "revisit", page.looked_at)
    )
    writer.write_record(record)


def _answer(page: ArchivedPage) -> "statusandheaders.StatusAndHeaders":
    kept = [(name.title(), value) for name, value in page.headers.items() if value and name not in _OF_THE_WAY]
    return statusandheaders.StatusAndHeaders(
        f"{page.http_status} {_phrase(page.http_status)}",
        [*kept, ("Content-Length", str(len(page.body)))],
        protocol="HTTP/1.1",
    )


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"


def _headers(page: ArchivedPage, kind: str, at: datetime) -> dict[str, str]:
    return {"WARC-Record-ID": _record_id(page, kind), "WARC-Date": _date(at)}


def _record_id(page: ArchivedPage, kind: str) -> str:
    return f"<urn:uuid:{uuid5(_RECORDS, f'{page.version_id} {kind} {page.looked_at.isoformat()}')}>"


def _date(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S.%fZ}"
