"""An upload to an object storage that breaks off, at a storage that knows nothing of it any more."""

import socket
from collections.abc import Iterator
from uuid import uuid4

import pytest

from crawler.adapters.objects.object_store import ObjectStore
from crawler.errors import Unavailable
from tests.integration.raw_server import Request, response, serving

BEGUN = b"<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"
UNKNOWN = b"<Error><Code>NoSuchUpload</Code></Error>"
XML = "Content-Type: application/xml"


def test_what_broke_off_is_told_though_its_parts_cannot_be_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    asked = []

    def respond(_: socket.socket, request: Request) -> bytes:
        asked.append(request.method)
        if request.method == "POST":
            return response(BEGUN, "200 OK", XML)
        if request.method == "PUT":
            return response(b"", "200 OK", 'ETag: "x"')
        return response(UNKNOWN, "404 Not Found", XML)

    def broken() -> Iterator[bytes]:
        for _ in range(20):
            yield bytes(2**20)
        raise Unavailable("Postgres is gone.")

    with serving(respond) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url("").rstrip("/"))
        with pytest.raises(Unavailable, match=r"^Postgres is gone\.\nWhat was uploaded of it was not taken back"):
            ObjectStore(f"s3://bucket-{uuid4().hex}/pages").write("crawl.warc.gz", broken())
    assert {"POST", "DELETE"} <= set(asked), "it was begun, and to be taken back"
