"""What judges are asked to do in tests, as functions that their process imports."""

import os
import signal
import time

from selectolax.lexbor import LexborHTMLParser

from crawler.domain.diffs.replaced_text import Replaced, replaced_text
from crawler.domain.noise.page_noise import NO_RULES
from crawler.domain.noise.page_pairs import PageSide
from crawler.errors import NotFound


def double(item: int, factor: int) -> int:
    return item * factor


def never_end(item: int, hostile: int) -> int:
    """Answers at once, but for one item: that is never done."""
    while item == hostile:
        pass
    return item


def match(selector: str, boxes: int) -> int:
    """Costs minutes in C code, which no Python code can interrupt."""
    return len(LexborHTMLParser(f"<div>{'<p></p>' * boxes}</div>").css(selector))


def grow(item: int, hostile: int) -> int:
    return len(bytearray(4_000_000_000 if item == hostile else 1))


class LateModule:
    """An item whose class comes from a module that is imported when the item is read: that costs 0.3 s."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return imported_late, (self.number,)


def imported_late(number: int) -> LateModule:
    until = time.process_time() + 0.3
    while time.process_time() < until:
        pass
    return LateModule(number)


def number_of(item: LateModule, more: int) -> int:
    return item.number + more


def die(item: int, hostile: int) -> int:
    if item == hostile:
        os.kill(os.getpid(), signal.SIGSEGV)
    return item


def sleep(item: float, _: None) -> float:
    time.sleep(item)
    return item


def refuse(item: int) -> int:
    raise NotFound(f"There is no {item}.")


def pids(_: int, __: None) -> tuple[int, int]:
    return os.getpid(), os.getppid()


def replaced(texts: tuple[bytes, bytes], _: None) -> tuple[Replaced, int]:
    """What is compared between pages to find walls."""
    old, new = (PageSide(text, "text/html", None).blocks(NO_RULES) for text in texts)
    return replaced_text(old, new), os.getppid()


def repeat(item: int, times: int) -> str:
    """An answer that does not fit into a pipe."""
    return str(item % 10) * times
