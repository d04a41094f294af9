from crawler.domain.engine.most_found import FOUND_PER_PAGE, LEAST_FOUND, is_kept, most_found, room_of


def test_a_crawl_keeps_more_urls_the_more_pages_it_may_store() -> None:
    assert most_found(200) == LEAST_FOUND
    assert most_found(1_000_000) == FOUND_PER_PAGE * 1_000_000


def test_what_is_refused_never_takes_the_place_of_what_waits() -> None:
    most = most_found(200)
    assert is_kept(most - 1, 200, is_queued=False)
    assert not is_kept(most, 200, is_queued=False)
    assert is_kept(2 * most - 1, 200, is_queued=True)
    assert not is_kept(2 * most, 200, is_queued=True)


def test_a_long_url_counts_for_several() -> None:
    assert room_of("https://example.org/a") == 1
    assert room_of("https://example.org/" + "a" * 1980) == 8
