"""XML that is no web page, such as a feed, as a list of its texts and attributes, each with its path:
`rss.channel.item[2].title: News`. White space says nothing. In bounded time and memory, whatever came.

An element or attribute without text is a value, too: it is there or not. A value is compared by its place without
numbers, and in order, so that a new entry at the top of a feed changes none below it. Where there are several elements
of one place (`day`), of which one begins with several children of one name (`slot`), it would not be seen that a child
goes from one element to the next. So a further child is told from the first one, with which an element begins.
"""

from collections import Counter
from collections.abc import Mapping

from lxml import etree

from crawler.domain.pages.file_lines import FileLines
from crawler.domain.pages.json_values import MAX_BYTES, MAX_DEPTH, MAX_PATH, MAX_VALUES, ROOT, NoValues


def xml_lines(body: bytes) -> FileLines:
    """Raises NoValues for what is broken, has a document type, or is too deep or too large."""
    if len(body) > MAX_BYTES:
        raise NoValues
    target = _Target()
    parser = etree.XMLParser(target=target, resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    try:
        parser.feed(body.removeprefix(b"\xef\xbb\xbf").lstrip())
        parser.close()
    except etree.XMLSyntaxError as exc:
        raise NoValues from exc
    return FileLines(target.compared, target.texts, target.places)


class _Target:
    """Called by the parser for each tag: no tree is built."""

    def __init__(self) -> None:
        self._with_children: Counter[str] = Counter()
        self._further: list[tuple[int, str]] = []
        """The first line of each child that is like the first child of its element, and the place of that element."""
        self.compared: list[str] = []
        self.texts: list[str] = []
        self.places: list[str] = []
        self._open: list[_Element] = [_Element("", ROOT)]

    def doctype(self, name: str, public_id: str | None, system_id: str | None) -> None:  # noqa: ARG002
        raise NoValues

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if len(self._open) > MAX_DEPTH:
            raise NoValues
        above, name = self._open[-1], tag.rpartition("}")[2]
        above.below[name] += 1
        number = above.below[name]
        step = f"{name}[{number}]" if number > 1 else name
        element = _Element(f"{above.path}.{step}" if above.path else step, f"{above.place}.{name}")
        if len(element.path) > MAX_PATH:
            raise NoValues
        if not above.first:
            above.first = name
            self._with_children[above.place] += 1
        elif above.first == name:
            self._further.append((len(self.texts), above.place))
        if attributes:
            element.first = "@"
        self._open.append(element)
        for key in sorted(attributes):
            name = key.rpartition("}")[2]
            self._add(f"{element.path}@{name}", f"{element.place}@{name}", attributes[key].replace("&#38;", "&"))

    def data(self, data: str) -> None:
        self._open[-1].text.append(data)

    def end(self, tag: str) -> None:  # noqa: ARG002
        element = self._open.pop()
        text = "".join(element.text)
        if not element.first or text.strip():
            self._add(element.path, element.place, text)

    def close(self) -> None:
        for at, place in self._further:
            if self._with_children[place] > 1:
                self.compared[at] = f"+{self.compared[at]}"

    def _add(self, path: str, place: str, value: str) -> None:
        text = " ".join(value.split())
        if len(self.texts) >= MAX_VALUES or len(path) > MAX_PATH:
            raise NoValues
        self.compared.append(f"{place}: {text}" if text else place)
        self.texts.append(f"{path}: {text}" if text else f"{path}:")
        self.places.append(place)


class _Element:
    __slots__ = ("below", "first", "path", "place", "text")

    def __init__(self, path: str, place: str) -> None:
        self.path = path
        self.place = place
        self.first = ""
        """How it begins: the name of its first child, or the sign of attributes."""
        self.text: list[str] = []
        self.below: Counter[str] = Counter()
