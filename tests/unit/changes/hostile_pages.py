"""Pages that are built to make comparing them take long: each as two versions, larger the larger `size` is.

A size of 1 is about 20 kB, one of 8 about 160 kB.
"""

from collections.abc import Callable
from typing import NamedTuple

Pair = tuple[bytes, bytes]
_FILLER = "<p>A page has enough words of its own to be taken for one, whatever else is said about it here.</p>"


class Hostile(NamedTuple):
    name: str
    build: Callable[[int], Pair]


def page(body: str, title: str = "A page") -> bytes:
    head = f"<html><head><title>{title}</title></head>"
    return f"{head}<body>{_FILLER}{body}</body></html>".encode("utf-8", "surrogatepass")


def _lines(size: int) -> Pair:
    def version(word: str) -> bytes:
        return page("".join(f"<p>{word} stands in line {n} here</p>" for n in range(600 * size)))

    return version("Summer"), version("Winter")


def _numbers_in_lines(size: int) -> Pair:
    def version(more: int) -> bytes:
        return page("".join(f"<p>Of kind {n} there are {n * 7 + more} here</p>" for n in range(600 * size)))

    return version(0), version(1)


def _swapped(size: int) -> Pair:
    lines = [f"<li>{'even' if n % 2 else 'odd'}</li>" for n in range(1500 * size)]
    lines[::7] = [f"<li>number {n}</li>" for n in range(len(lines[::7]))]
    return page(f"<ul>{''.join(lines)}</ul>"), page(f"<ul>{''.join(lines[::-1])}</ul>")


def _shuffled(size: int) -> Pair:
    count = 700 * size
    return (
        page("".join(f"<p>This is line {n}</p>" for n in range(count))),
        page("".join(f"<p>This is line {n * 7919 % count}</p>" for n in range(count))),
    )


def _every_other_line(size: int) -> Pair:
    def version(mark: str) -> bytes:
        return page("".join(f"<p>Read more</p><p>{mark if n % 2 else 'x'} {n % 50}</p>" for n in range(400 * size)))

    return version("old"), version("new")


def _one_line(size: int) -> Pair:
    return page(f"<p>{'word ' * 4000 * size}one</p>"), page(f"<p>{'word ' * 4000 * size}two</p>")


def _long_words(size: int) -> Pair:
    return page(f"<p>{'a-' * 10_000 * size}1</p>"), page(f"<p>{'a-' * 10_000 * size}2</p>")


def _lines_of(unit: str, old: str, new: str) -> Callable[[int], Pair]:
    """Lines of the greatest length in which values are looked for."""
    text = unit * (3900 // len(unit))

    def build(size: int) -> Pair:
        def version(end: str) -> bytes:
            return page("".join(f"<p>{n} {text} {end}</p>" for n in range(5 * size)))

        return version(old), version(new)

    return build


def _tiny_blocks(size: int) -> Pair:
    def version(word: str) -> bytes:
        return page("".join(f"<i class=c{n}></i><div>{word}</div>" for n in range(700 * size)))

    return version("a"), version("b")


def _named_boxes(size: int) -> Pair:
    def version(day: int) -> bytes:
        boxes = (f"<div class='box x{n}y'>Last updated: {day} May 2026</div>" for n in range(400 * size))
        return page("".join(boxes))

    return version(14), version(15)


def _deep(size: int) -> Pair:
    depth = min(600 * size, 4_500)

    def version(word: str) -> bytes:
        return page("<div>" * depth + f"<p>{word}</p>" * (1200 * size) + "</div>" * depth)

    return version("a"), version("b")


def _links(size: int) -> Pair:
    def version(word: str) -> bytes:
        return page("".join(f"<a href='/page/{n}?v={word}'>Link {n} {word}</a><br>" for n in range(400 * size)))

    return version("old"), version("new")


def _table(size: int) -> Pair:
    def version(more: int) -> bytes:
        rows = (f"<tr><td>{n}</td><td>✓</td><td>{n % 9 + more}</td></tr>" for n in range(400 * size))
        return page(f"<table>{''.join(rows)}</table>")

    return version(0), version(1)


def _one_row(size: int) -> Pair:
    cells = "<td>1</td>" * (2000 * size)
    return page(f"<table><tr><td>x</td>{cells}</tr></table>"), page(
        f"<table><tr><td>x</td>{cells}<td>2</td></tr></table>"
    )


def _long_names(size: int) -> Pair:
    """Everything stands in a box with very many classes, and in one whose tag is very long."""
    names, tag = " ".join(f"c{n}_" for n in range(1500 * size)), "x-" + "y" * 4000 * size

    def version(word: str) -> bytes:
        return page(f"<{tag} class='{names}'>" + f"<p>{word}</p><pre>{word}</pre>" * (300 * size) + f"</{tag}>")

    return version("a"), version("b")


def _right_to_left(size: int) -> Pair:
    def version(word: str) -> bytes:
        text = f"\u202e\u0634\u0647\u0631 {word} \u0301\u0301\u0301\u200f\ufeff"
        return page("".join(f"<p>{text}{n}</p>" for n in range(400 * size)) + "e\u0301" * 1000 * size)

    return version("\u06f1\u06f2"), version("\u06f1\u06f3")


def _forms(size: int) -> Pair:
    nested = "<form><div></form>" * min(300 * size, 2000)

    def version(word: str) -> bytes:
        return page(nested + f"<p>{word}</p>" * (1000 * size) + "<h1>A heading</h1>")

    return version("a"), version("b")


def _open_brackets(size: int) -> Pair:
    return page("<p>" * 500 * size + "<b </b " * 2000 * size), page("<p>" * 500 * size + "<i </i " * 2000 * size)


HOSTILE = (
    Hostile("lines", _lines),
    Hostile("numbers in lines", _numbers_in_lines),
    Hostile("swapped", _swapped),
    Hostile("shuffled", _shuffled),
    Hostile("every other line", _every_other_line),
    Hostile("one line", _one_line),
    Hostile("long words", _long_words),
    Hostile("numbers", _lines_of("7 ", "1", "2")),
    Hostile("numbers that change", lambda size: _numbers_that_change(size)),
    Hostile("parts", _lines_of("1. ", "1", "2")),
    Hostile("dates", _lines_of("14 May 2026 ", "1", "2")),
    Hostile("dates that change", lambda size: _dates_that_change(size)),
    Hostile("clocks", _lines_of("12:30 ", "12:31", "12:32")),
    Hostile("ages", _lines_of("3 days ago; ", "3 days ago", "4 days ago")),
    Hostile("ages that change", lambda size: _ages_that_change(size)),
    Hostile("months", _lines_of("may ", "1", "2")),
    Hostile("tokens", _lines_of("a-b_c1-", "1", "2")),
    Hostile("letters", _lines_of("a-", "1", "2")),
    Hostile("days", _lines_of("days ", "1", "2")),
    Hostile("revisions", _lines_of("http://a.example/?rev", "=1", "=2")),
    Hostile("stamps", _lines_of("Last modified 14 May 2026. ", "1", "2")),
    Hostile("tiny blocks", _tiny_blocks),
    Hostile("named boxes", _named_boxes),
    Hostile("deep", _deep),
    Hostile("links", _links),
    Hostile("table", _table),
    Hostile("one row", _one_row),
    Hostile("long names", _long_names),
    Hostile("right to left", _right_to_left),
    Hostile("forms", _forms),
    Hostile("open brackets", _open_brackets),
)


def _numbers_that_change(size: int) -> Pair:
    return _lines_of("7 ", "1", "2")(size)[0], _lines_of("8 ", "1", "2")(size)[0]


def _dates_that_change(size: int) -> Pair:
    return _lines_of("14 May 2026; ", "1", "2")(size)[0], _lines_of("15 May 2026; ", "1", "2")(size)[0]


def _ages_that_change(size: int) -> Pair:
    lines = [f"<p>{n} answers, the last one {{}} days ago</p>" for n in range(500 * size)]
    return page("".join(lines).replace("{}", "3")), page("".join(lines).replace("{}", "4"))
