from uuid import UUID

from crawler.domain.engine.ledger import page_id, snapshot_id, version_id
from crawler.domain.ids import new_id


def test_ids_grow_with_time_and_say_their_version() -> None:
    ids = [new_id(ms) for ms in (1, 1000, 10**12, 10**12 + 1)]
    assert ids == sorted(ids)
    assert {i.version for i in ids} == {7}
    assert {i.variant for i in ids} == {"specified in RFC 4122"}


def test_ids_of_one_moment_differ() -> None:
    assert len({new_id(5) for _ in range(1000)}) == 1000


def test_the_same_page_version_and_content_have_the_same_id() -> None:
    project, crawl = UUID(int=1), UUID(int=2)
    page = page_id(project, "https://a.example/x")
    assert page == page_id(project, "https://a.example/x")
    assert page != page_id(UUID(int=3), "https://a.example/x")
    assert version_id(page, crawl, b"h") == version_id(page, crawl, b"h") != version_id(page, crawl, b"i")
    assert snapshot_id(bytes(range(32))) == UUID(bytes=bytes(range(16)))
