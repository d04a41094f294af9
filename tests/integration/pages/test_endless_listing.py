"""A listing of an object storage that goes in circles."""

import itertools
import socket
from uuid import UUID, uuid4

import pytest

from crawler.adapters.objects.object_store import ObjectStore
from crawler.errors import Unavailable
from tests.integration.raw_server import Request, response, serving


def part(names: list[str], token: str | None) -> bytes:
    contents = "".join(
        f"<Contents><Key>pages/{name}</Key><LastModified>2020-01-01T00:00:00.000Z</LastModified><ETag>x</ETag>"
        "<Size>1</Size></Contents>"
        for name in names
    )
    more = f"<NextContinuationToken>{token}</NextContinuationToken>" if token else ""
    is_cut = str(token is not None).lower()
    body = f"<ListBucketResult><Name>b</Name><IsTruncated>{is_cut}</IsTruncated>{more}{contents}</ListBucketResult>"
    return response(body.encode(), "200 OK", "Content-Type: application/xml")


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")


@pytest.mark.parametrize("before", [0, 7])
@pytest.mark.parametrize("around", [1, 50])
def test_a_listing_that_goes_in_circles_is_an_error(monkeypatch: pytest.MonkeyPatch, before: int, around: int) -> None:
    names = [f"aa/{uuid4().hex}-{number:08x}" for number in range(before + around)]
    answers = itertools.count()

    def respond(_: socket.socket, __: Request) -> bytes:
        number = next(answers)
        return part(names if not number else names[before:], "same" if number < 200 else None)

    with serving(respond) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url("").rstrip("/"))
        with pytest.raises(Unavailable, match="lists the same objects again and again"):
            ObjectStore(f"s3://bucket-{uuid4().hex}/pages").list_folder("aa")


def test_a_listing_in_any_order_is_read_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [UUID(f"aa{uuid4().hex[2:]}") for _ in range(3000)]
    names = [f"aa/{one.hex}-{number:08x}" for number, one in enumerate(ids)]

    def respond(_: socket.socket, request: Request) -> bytes:
        first = int(request.path.partition("continuation-token=")[2].partition("&")[0] or 0)
        return part(names[first : first + 1000], str(first + 1000) if first < 2000 else None)

    with serving(respond) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url("").rstrip("/"))
        found = ObjectStore(f"s3://bucket-{uuid4().hex}/pages").list_folder("aa")
    assert {one.id for one in found} == set(ids)


def test_a_listing_of_empty_parts_without_end_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("crawler.adapters.objects.object_store.LISTING_SECONDS", 0.1)
    answers = itertools.count()
    with serving(lambda *_: part([], "same" if next(answers) < 2000 else None)) as server:
        monkeypatch.setenv("AWS_ENDPOINT_URL", server.url("").rstrip("/"))
        with pytest.raises(Unavailable, match="lists nothing, and does not end"):
            ObjectStore(f"s3://bucket-{uuid4().hex}/pages").list_folder("aa")
