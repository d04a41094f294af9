from crawler.domain.changes.newly_watched import found_through


def test_what_only_newly_watched_pages_lead_to_is_not_new_either() -> None:
    parents = {"/x?p=1": "/x", "/x?p=1&more": "/x?p=1", "/deep": "/x?p=1&more", "/made": "/", "/linked": "/y"}
    assert found_through({"/x?p=1"}, parents, str) == {"/x?p=1&more", "/deep"}
    assert found_through((), parents, str) == set()


def test_pages_that_lead_to_each_other_end_the_search() -> None:
    assert found_through({"/a"}, {"/b": "/a", "/a": "/b"}, str) == {"/a", "/b"}


def test_what_is_watched_since_now_is_not_found_through_the_others() -> None:
    assert found_through(["/a", "/b"], {"/c": "/b"}, str) == {"/c"}
