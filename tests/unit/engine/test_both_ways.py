"""Which known pages are fetched both ways: those whose lane changes, once."""

from uuid import UUID

from crawler.domain.engine.both_ways import needs_light_copy, needs_rendering
from crawler.domain.engine.ledger import LIGHT, RENDERED, Previous

SEEN = Previous(None, b"x", UUID(int=1), [], None, None, noindex=False, is_conditional=False)


def test_a_page_that_was_fetched_light_is_fetched_so_once_more_when_a_browser_takes_over() -> None:
    assert needs_light_copy(SEEN._replace(compared_method=LIGHT))
    assert not needs_light_copy(SEEN._replace(compared_method=RENDERED))


def test_a_page_that_was_rendered_is_rendered_once_more_when_it_goes_light() -> None:
    assert needs_rendering(SEEN._replace(compared_method=RENDERED))
    assert not needs_rendering(SEEN._replace(compared_method=LIGHT))
    assert not needs_rendering(SEEN._replace(compared_method=RENDERED, light_copy=UUID(int=2))), (
        "it was fetched both ways"
    )


def test_a_page_no_browser_was_there_for_is_compared_with_what_one_showed_before() -> None:
    owing = SEEN._replace(compared_method=LIGHT, owes_rendering=True)
    assert not needs_light_copy(owing)
    assert needs_rendering(owing), "although it is to go light now"


def test_a_page_nobody_knows_is_fetched_in_one_way() -> None:
    assert not needs_light_copy(None)
    assert not needs_rendering(None)
