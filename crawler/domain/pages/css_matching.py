"""Finds what a CSS selector names, in a time that grows with the page, whatever the page and the selector are.

The parser's own search goes through the page again for each step of a selector and each element that it meets. Here
it is asked for the names in one part only, which takes one look at each element; steps are taken from all at once.
"""

from collections import Counter
from collections.abc import Callable, Container, Iterable
from functools import cached_property, lru_cache

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from crawler.domain.pages.css_grammar import (
    LONGEST_SAID,
    Count,
    Has,
    Part,
    Selector,
    Step,
    parse_selector,
    without_space,
)
from crawler.domain.pages.tag_ids import TEXT
from crawler.errors import Invalid

MAX_SELECTOR = 512
_EMPTY = LexborHTMLParser("<p></p>")

Nodes = dict[int, LexborNode]
"""Elements by their number in the parser's memory, in the order of the page."""


def check_selector(selector: str) -> str:
    """The selector as it is kept. Raises Invalid with a sentence for people; CostlySelector if it could take long."""
    selector = selector.strip()
    if not selector or len(selector) > MAX_SELECTOR:
        raise Invalid(f"A CSS selector has 1 to {MAX_SELECTOR} characters.")
    try:
        # By our grammar first: the parser crashes on some texts that are none of it.
        Search(_EMPTY).find(selector)
    except SelectolaxError as exc:
        raise Invalid(f"{selector!r} is not a valid CSS selector.") from exc
    return selector


class Search:
    """Finds elements of one page, which must not be changed meanwhile."""

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        self._places: dict[tuple[bool, bool], dict[int, int]] = {}
        self.seen = 0
        """Elements that were looked at, each as often as it was."""

    def find(self, selector: str) -> list[LexborNode]:
        """What a selector names. Raises CostlySelector."""
        parts = _parsed(selector)
        if all(len(path) == 1 and not path[0][1].tests for path in parts):
            return self._all(selector)
        return list(self._selector(parts).values())

    def _selector(self, selector: Selector) -> Nodes:
        found: Nodes = {}
        for (_, first), *steps in selector:
            here = self._part(first)
            for step, part in steps:
                here = _after_step(self._part(part), step, here)
            found |= here
        return found

    def _part(self, part: Part) -> Nodes:
        found = {node.mem_id: node for node in self._all(part.plain)}
        for test in part.tests:
            if test.among is not None:
                found = _those(found, self._selector(test.among))
            elif test.not_among is not None:
                others = self._selector(test.not_among)
                found = {number: node for number, node in found.items() if number not in others}
            elif test.place is not None:
                found = self._counted(found, test.place)
            elif test.says is not None:
                found = {number: node for number, node in found.items() if self._said.get(number) == test.says}
            else:
                holders = {number for has in test.has for number in self._holders(has)}
                found = _those(found, holders)
        return found

    def _all(self, plain: str) -> list[LexborNode]:
        found = self._tree.css(plain)
        self.seen += len(found)
        return found

    def _counted(self, nodes: Nodes, count: Count) -> Nodes:
        kind = (count.from_end, count.of_type)
        if kind not in self._places:
            self._places[kind] = _places(self._all("*"), *kind)
        places = self._places[kind]
        return {number: node for number, node in nodes.items() if count.holds(places[number])}

    @cached_property
    def _said(self) -> dict[int, str]:
        """What each element says, without white space, unless that is long. Who says much, and who stands around that,
        is asked no further: so each element is asked at most as often as the longest text has letters."""
        said: dict[int, str] = {}
        for node in self._tree.root.traverse(include_text=True) if self._tree.root is not None else ():
            text = without_space(node.text_content or "") if node.tag_id == TEXT else ""
            above = node.parent if text else None
            while above is not None and len(said.get(above.mem_id, "")) <= LONGEST_SAID:
                said[above.mem_id] = (said.get(above.mem_id, "") + text)[: LONGEST_SAID + 1]
                above = above.parent
                self.seen += 1
            self.seen += 1
        return said

    def _holders(self, has: Has) -> Iterable[int | None]:
        """Elements from which this step leads to the part."""
        inner = self._part(has.part).values()
        match has.step:
            case Step.CHILD:
                return {_number(node.parent) for node in inner}
            case Step.NEXT:
                return {_number(_element_before(node)) for node in inner}
            case Step.INSIDE:
                return _all_ahead(inner, _above)
            case Step.AFTER:
                return _all_ahead(inner, _before)


@lru_cache(maxsize=1024)
def _parsed(selector: str) -> Selector:
    return parse_selector(selector)


def _those(nodes: Nodes, among: Container[int | None]) -> Nodes:
    return {number: node for number, node in nodes.items() if number in among}


def _after_step(nodes: Nodes, step: Step, start: Nodes) -> Nodes:
    """Those of the elements to which a step leads from any of the others."""
    if not start:
        return {}
    match step:
        case Step.CHILD:
            return {number: node for number, node in nodes.items() if _number(node.parent) in start}
        case Step.NEXT:
            return {number: node for number, node in nodes.items() if _number(_element_before(node)) in start}
        case Step.INSIDE:
            return _led_to(nodes, start, _above)
        case Step.AFTER:
            return _led_to(nodes, start, _before)


def _number(node: LexborNode | None) -> int | None:
    return None if node is None else node.mem_id


def _above(node: LexborNode) -> LexborNode | None:
    return node.parent


def _before(node: LexborNode) -> LexborNode | None:
    return node.prev


def _element_before(node: LexborNode) -> LexborNode | None:
    before = node.prev
    while before is not None and not before.is_element_node:
        before = before.prev
    return before


def _led_to(nodes: Nodes, start: Nodes, ahead: Callable[[LexborNode], LexborNode | None]) -> Nodes:
    """Elements with one of the others ahead of them. What was passed once is known: each is passed once."""
    known: dict[int, bool] = {}
    found: Nodes = {}
    for number, node in nodes.items():
        passed: list[int] = []
        one = ahead(node)
        while one is not None and one.mem_id not in start and one.mem_id not in known:
            passed.append(one.mem_id)
            one = ahead(one)
        leads = one is not None and (one.mem_id in start or known[one.mem_id])
        known.update(dict.fromkeys(passed, leads))
        if leads:
            found[number] = node
    return found


def _all_ahead(nodes: Iterable[LexborNode], ahead: Callable[[LexborNode], LexborNode | None]) -> set[int | None]:
    found: set[int | None] = set()
    for node in nodes:
        one = ahead(node)
        while one is not None and one.mem_id not in found:
            found.add(one.mem_id)
            one = ahead(one)
    return found


def _places(nodes: list[LexborNode], from_end: bool, of_type: bool) -> dict[int, int]:
    """The place of each element among those beside it, from 1."""
    counted: Counter[tuple[int, int]] = Counter()
    places: dict[int, int] = {}
    for node in reversed(nodes) if from_end else nodes:
        above = node.parent
        key = (above.mem_id if above is not None else 0, node.tag_id if of_type else 0)
        counted[key] += 1
        places[node.mem_id] = counted[key]
    return places
