"""The parser's numbers for the names of elements: comparing them is several times cheaper than comparing names."""

from selectolax.lexbor import LexborHTMLParser

_names = LexborHTMLParser("")


def tag_id(name: str) -> int:
    return _names.create_node(name).tag_id


def tag_ids(names: str) -> frozenset[int]:
    """The ids of tags, named in one text with spaces in between."""
    return frozenset(map(tag_id, names.split()))


def _unnamed(name: str) -> int:
    root = LexborHTMLParser("<p>text<!-- comment -->").root
    assert root is not None
    return next(node.tag_id for node in root.traverse(include_text=True) if node.tag == name)


TEXT, COMMENT = _unnamed("-text"), _unnamed("-comment")
