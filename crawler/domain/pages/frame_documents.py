"""Documents that a page brings along for its inline frames (`<iframe srcdoc="…">`). Its readers take what stands there
for a part of the page, so it is put in place of the frame."""

from collections.abc import Callable
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from crawler.domain.pages.markup_bombs import UnparsablePage, refuse_bombs
from crawler.domain.pages.unseen_frames import is_unseen

MAX_FRAMES = 100
MAX_DEPTH = 3
"""Of frames in frames."""


def show_frames(tree: LexborHTMLParser, parse: Callable[[bytes], LexborHTMLParser], depth: int = 0) -> None:
    """Change the tree. A document that is built to hurt a parser stays out of it."""
    for frame in list(islice((one for one in tree.css("iframe[srcdoc]") if not is_unseen(one)), MAX_FRAMES)):
        markup = (frame.attributes.get("srcdoc") or "").encode("utf-8", "replace")
        if (content := _content(markup, tree, parse, depth)) is not None:
            frame.replace_with(content)


def _content(
    markup: bytes, tree: LexborHTMLParser, parse: Callable[[bytes], LexborHTMLParser], depth: int
) -> LexborNode | None:
    try:
        refuse_bombs(markup)
        document = parse(markup)
    except UnparsablePage:
        return None
    if depth < MAX_DEPTH:
        show_frames(document, parse, depth + 1)
    box = tree.create_node("div")
    for node in list(document.body.iter(include_text=True)) if document.body else ():
        box.insert_child(node)  # a copy
    return box
