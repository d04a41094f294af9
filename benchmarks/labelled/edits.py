"""Real edits: what an author does to a page. Each changes the tree and says whether it could."""

import copy
import re
from collections.abc import Callable
from itertools import pairwise
from random import Random
from typing import Any

from lxml import html as lxml_html

from benchmarks.labelled import wording
from benchmarks.labelled.shares import share
from benchmarks.labelled.values import Half

Tree = Any
Edit = Callable[[Tree, Random, Half], bool]

_WORD = re.compile(r"\b[a-z]{5,}\b")
_NUMBER = re.compile(r"\b\d+(?:\.\d+)*\b")


def _prose(tree: Tree, random: Random, path: str = ".//p | .//li | .//dd", least: int = 40) -> list[Tree]:
    """Elements whose own first text is long enough, in a random order; never what the site itself adds."""
    found = [node for node in tree.xpath(path) if node.text and len(node.text.strip()) >= least]
    found = [node for node in found if not any(up.get("data-frame") for up in (node, *node.iterancestors()))]
    random.shuffle(found)
    return found


def word(tree: Tree, random: Random, half: Half) -> bool:
    for node in _prose(tree, random):
        found = _WORD.search(node.text)
        if found:
            new = random.choice([word for word in share(wording.WORDS, half) if word != found[0]])
            node.text = node.text[: found.start()] + new + node.text[found.end() :]
            return True
    return False


def number(tree: Tree, random: Random, _half: Half) -> bool:
    for node in _prose(tree, random):
        found = _NUMBER.search(node.text)
        if found:
            node.text = node.text[: found.start()] + _other_number(found[0], random) + node.text[found.end() :]
            return True
    return False


def _other_number(text: str, random: Random) -> str:
    head, dot, last = text.rpartition(".")
    return f"{head}{dot}{int(last) + random.randrange(1, 9)}"


def sentence_added(tree: Tree, random: Random, half: Half) -> bool:
    return any(_append(node, random.choice(share(wording.SENTENCES, half))) for node in _prose(tree, random)[:1])


def _append(node: Tree, text: str) -> bool:
    if len(node):
        node[-1].tail = f"{(node[-1].tail or '').rstrip()} {text}"
    else:
        node.text = f"{node.text.rstrip()} {text}"
    return True


def sentence_removed(tree: Tree, random: Random, _half: Half) -> bool:
    for node in _prose(tree, random, least=80):
        first, dot, rest = node.text.partition(". ")
        if dot and len(first) > 20 and len(rest) > 20:
            node.text = rest
            return True
    return False


def paragraph_added(tree: Tree, random: Random, half: Half) -> bool:
    for node in _prose(tree, random, ".//p"):
        new = lxml_html.Element("p")
        new.text = " ".join(random.sample(share(wording.SENTENCES, half), 3))
        node.addnext(new)
        return True
    return False


def paragraph_removed(tree: Tree, random: Random, _half: Half) -> bool:
    for node in _prose(tree, random, ".//p"):
        node.drop_tree()
        return True
    return False


def paragraph_moved(tree: Tree, random: Random, _half: Half) -> bool:
    nodes = _prose(tree, random, ".//p")
    for one, other in pairwise(nodes):
        if one.text_content().strip() != other.text_content().strip():
            other.addnext(copy.deepcopy(one))
            one.drop_tree()
            return True
    return False


def _items(tree: Tree, random: Random) -> list[Tree]:
    found = [node for node in tree.xpath(".//li") if node.text_content().strip()]
    found = [node for node in found if not any(up.get("data-frame") for up in node.iterancestors())]
    random.shuffle(found)
    return found


def item_added(tree: Tree, random: Random, half: Half) -> bool:
    for node in _items(tree, random):
        new = lxml_html.Element("li")
        new.text = random.choice(share(wording.SENTENCES, half))
        node.addnext(new)
        return True
    return False


def item_removed(tree: Tree, random: Random, _half: Half) -> bool:
    for node in _items(tree, random):
        if len(node.getparent()) > 2:
            node.drop_tree()
            return True
    return False


def heading(tree: Tree, random: Random, half: Half) -> bool:
    for node in _prose(tree, random, ".//h2 | .//h3 | .//h4", 4):
        node.text = f"{node.text.rstrip()} {random.choice(share(wording.WORDS, half))}"
        return True
    return False


def cell(tree: Tree, random: Random, half: Half) -> bool:
    for node in _prose(tree, random, ".//td", 2):
        node.text = random.choice(share(wording.WORDS, half))
        return True
    return False


def cell_number(tree: Tree, random: Random, _half: Half) -> bool:
    for node in _prose(tree, random, ".//td", 1):
        if _NUMBER.fullmatch(node.text.strip()):
            node.text = _other_number(node.text.strip(), random)
            return True
    return False


def code_line(tree: Tree, random: Random, half: Half) -> bool:
    for node in _prose(tree, random, ".//pre", 1):
        lines = node.text.split("\n")
        lines.insert(random.randrange(len(lines)), f"set_option('{random.choice(share(wording.WORDS, half))}', 1)")
        node.text = "\n".join(lines)
        return True
    return False


def title(tree: Tree, random: Random, half: Half) -> bool:
    node = tree.find(".//title")
    if node is None or not node.text:
        return False
    node.text = f"{node.text.strip()} ({random.choice(share(wording.WORDS, half))})"
    return True


def link_text(tree: Tree, random: Random, half: Half) -> bool:
    for node in _prose(tree, random, ".//p//a | .//li//a", 3):
        node.text = f"{node.text.strip()} {random.choice(share(wording.WORDS, half))}"
        return True
    return False


def fact(tree: Tree, random: Random, _half: Half) -> bool:
    """A price, a version or a date that the page is about."""
    nodes = tree.xpath(".//*[@data-fact]")
    random.shuffle(nodes)
    for node in nodes:
        node.text = node.get("data-fact")
        return True
    return False


KINDS: dict[str, Edit] = {
    "word": word,
    "number": number,
    "sentence_added": sentence_added,
    "sentence_removed": sentence_removed,
    "paragraph_added": paragraph_added,
    "paragraph_removed": paragraph_removed,
    "paragraph_moved": paragraph_moved,
    "item_added": item_added,
    "item_removed": item_removed,
    "heading": heading,
    "cell": cell,
    "cell_number": cell_number,
    "code_line": code_line,
    "title": title,
    "link_text": link_text,
    "fact": fact,
}
