"""What stands behind the `#` of an address: a place in a document, or a view that only scripts show."""

_NO_PLACE = frozenset("/!")


def is_route(fragment: str) -> bool:
    """Whether a fragment names no place in a document: nobody writes ids that begin with a slash or `!`."""
    return fragment[:1] in _NO_PLACE


def names_view(fragment: str) -> bool:
    """Whether it is such a route, and more than the bare beginning, which is the page itself."""
    return is_route(fragment) and bool(fragment.lstrip("!/"))
