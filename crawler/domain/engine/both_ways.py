"""Which known pages are fetched both ways, because their lane changed: light, and in a browser.

What a browser shows cannot be compared with what a server sends. A page that changes its lane would have nothing to be
compared with, and an edit made meanwhile would never be told. So for once it is fetched both ways: one of the two
copies is compared with the crawl before, and the next crawl with the other. Kept are what the browser showed, as the
page, and beside it what the server sent.
"""

from crawler.domain.engine.ledger import LIGHT, RENDERED, Previous


def needs_light_copy(previous: Previous | None) -> bool:
    """Whether a page that is going to be rendered is fetched light first: so it was the last time, and only so.

    Not one that would have been rendered had there been a browser: it is compared with what that showed before.
    """
    return previous is not None and previous.compared_method == LIGHT and not previous.owes_rendering


def needs_rendering(previous: Previous | None) -> bool:
    """Whether a page that is going to be fetched light is rendered too: so it was the last time, and only so."""
    if previous is None:
        return False
    return previous.owes_rendering or (previous.compared_method == RENDERED and previous.light_copy is None)
