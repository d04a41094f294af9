"""Which parts of a page are not its content: the idea of crawl4ai's pruning filter, on our own tree.

Each block is scored by how much of it is text, how much of that is links, what element it is, what its class and id
say, and how long it is. Blocks below the threshold go, with all that is in them. crawl4ai judges every element by
its words, so that at 75 words all headings and most paragraphs of a good page go too; here the word count is asked of
boxes that hold other blocks, a paragraph is judged by its score alone, and what stands inside a line stays in it.
"""

import math
import re
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from crawler.domain.markdown.walk import DROPPED, PLAIN
from crawler.domain.pages.tag_ids import TEXT, tag_id, tag_ids

_NEGATIVE = re.compile(r"nav|footer|header|sidebar|ads|comment|promo|advert|social|share", re.IGNORECASE)
_OTHER_WEIGHT = 0.5
_TAG_WEIGHTS = {
    tag_id(name): weight
    for name, weight in {
        "article": 1.5, "section": 1.0, "p": 1.0,
        "h1": 1.2, "h2": 1.1, "h3": 1.0, "h4": 0.9, "h5": 0.8, "h6": 0.7,
    }.items()
}  # fmt: skip
_A = tag_id("a")
# Never judged by themselves: what stands inside a line, and the parts of a table.
_UNJUDGED = PLAIN | tag_ids(
    "a b strong i em s del strike code kbd samp tt img br hr tr td th tbody thead tfoot colgroup col caption main"
)


@dataclass(frozen=True, slots=True)
class Pruning:
    """What a block needs to stay: such a score, and so many words if it holds other blocks."""

    threshold: float = 0.48
    min_words: int = 75


class _Box:
    """An element while it is read, with all that is in it."""

    __slots__ = ("holds_blocks", "link_chars", "markup_chars", "node", "text_chars", "words")

    def __init__(self, node: LexborNode) -> None:
        self.node = node
        self.text_chars = self.markup_chars = self.link_chars = self.words = 0
        self.holds_blocks = False

    def read_text(self, text: str) -> None:
        words = text.split()
        self.words += len(words)
        self.text_chars += sum(map(len, words)) + max(0, len(words) - 1)
        self.markup_chars += len(text)

    def take_in(self, child: "_Box", tag: int) -> None:
        self.text_chars += child.text_chars
        self.words += child.words
        self.markup_chars += child.markup_chars + _tag_chars(child.node)
        self.holds_blocks = self.holds_blocks or child.holds_blocks or tag not in _UNJUDGED
        if tag == _A:
            self.link_chars += child.text_chars

    def score(self, tag: int) -> float:
        density = self.text_chars / self.markup_chars if self.markup_chars else 0.0
        links = self.link_chars / self.text_chars if self.text_chars else 0.0
        weight = _TAG_WEIGHTS.get(tag, _OTHER_WEIGHT)
        length = math.log(self.text_chars + 1)
        return 0.4 * density + 0.2 * (1 - links) + 0.2 * weight + 0.1 * _class_weight(self.node) + 0.1 * length


def pruned_nodes(root: LexborNode, pruning: Pruning) -> frozenset[int]:
    """The `mem_id` of each block that goes. One walk, each element judged when all that is in it is known."""
    pruned: set[int] = set()
    boxes = [_Box(root)]
    node = root.first_child
    while node is not None:
        tag = node.tag_id
        if tag == TEXT:
            boxes[-1].read_text(node.text_content or "")
        elif tag not in DROPPED:
            boxes.append(_Box(node))
            child = node.first_child
            if child is not None:
                node = child
                continue
            _close(boxes, pruning, pruned)
        following = node.next
        while following is None and len(boxes) > 1:
            node = boxes[-1].node
            _close(boxes, pruning, pruned)
            following = node.next
        node = following
    return frozenset(pruned)


def _close(boxes: list[_Box], pruning: Pruning, pruned: set[int]) -> None:
    box = boxes.pop()
    tag = box.node.tag_id
    boxes[-1].take_in(box, tag)
    if tag in _UNJUDGED:
        return
    too_short = box.holds_blocks and box.words < pruning.min_words
    if too_short or box.score(tag) < pruning.threshold:
        pruned.add(box.node.mem_id)


def _tag_chars(node: LexborNode) -> int:
    """The length of its start and end tags."""
    attributes = sum(len(name) + len(value or "") + 4 for name, value in node.attributes.items())
    return 2 * len(node.tag or "") + 5 + attributes


def _class_weight(node: LexborNode) -> float:
    attributes = node.attributes
    named = (attributes.get("class"), attributes.get("id"))
    return sum(-0.5 for name in named if name and _NEGATIVE.match(name))
