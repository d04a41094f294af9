"""`python -m tests.unit.changes.fuzzing [--seed S] [--seconds N]`: random pairs of pages, against all that judges them.

What must hold for every pair, whatever its pages are:

- nothing is raised, but that a page is built to hurt parsers;
- a page against itself is no change;
- what is a change from one page to the other is one the other way round, unless what changed is a clock's, a stamp's or
  an age's: time goes forward;
- a word that is there more often, or less, is a change;
- the same pair is judged the same twice;
- CPU time is bounded by the size of the pair.
"""

import argparse
import secrets
import sys
import time
import traceback
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from crawler.domain.diffs.page_blocks import read_blocks
from crawler.domain.noise.page_noise import NO_RULES, FilteredPage, apply_noise_rules
from crawler.domain.noise.page_pairs import PagePair, PageSide
from crawler.domain.pages.markup_bombs import UnparsablePage
from tests.unit.changes.hostile_pages import HOSTILE
from tests.unit.changes.judges import ID, JUDGES, NEW, OLD, URL

SECONDS_FOR_ANY, SECONDS_A_BYTE = 1.5, 60e-6
"""CPU time of one judge. Several times what the slowest takes: a busy machine counts more."""
_SOME_WORDS = (
    "Zyklop the page last updated by anna on of price total views open closed until today yesterday meeting room river "
    "Zuletzt geändert von le prix de la réunion 最終更新 価格 страница обновлена السعر صفحة € $ % © & < > not found in"
)
_WORDS = _SOME_WORDS.split()
_VALUES = (
    "3", "12", "1,204", "19.90", "2026", "14 May 2026", "2026-05-14", "14.05.2026 09:13", "10:30", "3 days ago",
    "an hour ago", "7f3a9c2e11", "v2.1.3", "20260514091342", "99999999999999 days ago", "31.12.9999", "0001-01-01",
    "2026-05-14T99:99:99", "1778750022", "一分前", "5월 14일", "\u0661\u0662", "12:30:15.5", "-7", "#", "@",
)  # fmt: skip
_TAGS = (
    "p",
    "div",
    "li",
    "td",
    "span",
    "h1",
    "h2",
    "b",
    "a",
    "pre",
    "article",
    "section",
    "dt",
    "dd",
    "label",
    "x-box",
    "form",
)
_NAMES = (
    "",
    "",
    "",
    " class='ad'",
    " class='price x1a2b3'",
    " id='main'",
    " class='a b c d'",
    " href='/a?rev=7'",
    " hidden",
)
_BROKEN = (
    "<", ">", "</", "<!--", "-->", "<![CDATA[", "&#x0;", "&#xD800;", "\x00", "\u202e", "<b ", "'", '"', "<script>",
    "<table><td>", "</p></div>", "<svg><title>", "<template>", "\ufffe", "<textarea>", "<plaintext>",
)  # fmt: skip


class Pair(NamedTuple):
    old: bytes
    new: bytes
    made_of: str


def pairs(seed: int) -> Iterator[Pair]:
    """Without end, and always the same for a seed."""
    for number in range(sys.maxsize):
        yield _pair(Random(f"{seed}/{number}"), number)


def _pair(rng: Random, number: int) -> Pair:
    if rng.random() < 0.06:
        hostile = rng.choice(HOSTILE)
        old, new = hostile.build(1)
        made_of = hostile.name
    else:
        old = _page(rng)
        new, made_of = old, "a page"
    for _ in range(rng.choice((1, 1, 2, 5, 30))):
        new = _mutated(rng, new)
    if rng.random() < 0.1:
        old = _mutated(rng, old)
    return Pair(old, new, f"pair {number} of {made_of}")


def _page(rng: Random) -> bytes:
    body = "".join(_element(rng, 0) for _ in range(rng.randint(1, 40)))
    title = _text(rng, 6)
    return f"<html><head><title>{title}</title></head><body>{body}</body></html>".encode("utf-8", "replace")


def _element(rng: Random, depth: int) -> str:
    tag, name = rng.choice(_TAGS), rng.choice(_NAMES)
    inner = _text(rng, 12)
    while depth < 5 and rng.random() < 0.5:
        inner += _element(rng, depth + 1)
    return f"<{tag}{name}>{inner}</{tag}>\n"


def _text(rng: Random, most: int) -> str:
    return " ".join(rng.choice(_VALUES if rng.random() < 0.3 else _WORDS) for _ in range(rng.randint(0, most)))


def _mutated(rng: Random, page: bytes) -> bytes:
    at, end = sorted((rng.randrange(len(page) + 1), rng.randrange(len(page) + 1)))
    near = min(len(page), at + rng.randint(0, 40))
    match rng.randrange(7):
        case 0:  # a word or value elsewhere
            return page[:at] + f" {_text(rng, 3)} ".encode() + page[at:]
        case 1:  # less
            return page[:at] + page[near:]
        case 2:  # once more
            return page[:near] + page[at:near] * rng.choice((1, 2, 50)) + page[near:]
        case 3:  # moved
            return page[:at] + page[near:end] + page[at:near] + page[max(near, end) :]
        case 4:  # broken
            return page[:at] + rng.choice(_BROKEN).encode("utf-8", "surrogatepass") + page[at:]
        case 5:  # another value
            old, new = rng.choice(_VALUES).encode(), rng.choice(_VALUES).encode()
            return page.replace(old, new, rng.choice((1, -1)))
    return page[:at] + _element(rng, 3).encode("utf-8", "replace") + page[at:]


def problems(pair: Pair) -> Iterator[str]:
    for name, judge in JUDGES.items():
        began = time.process_time()
        try:
            judge(pair.old, pair.new)
        except UnparsablePage:
            pass
        except Exception:  # noqa: BLE001 - that is what is looked for
            yield f"{name} raises {traceback.format_exc(limit=-3)}"
            continue
        used, most = time.process_time() - began, SECONDS_FOR_ANY + SECONDS_A_BYTE * (len(pair.old) + len(pair.new))
        if used > most:
            yield f"{name} takes {used:.1f} s of CPU time, more than {most:.1f} s"
    yield from _contradictions(pair)


def _contradictions(pair: Pair) -> Iterator[str]:
    try:
        told, again = _judged(pair.old, pair.new), _judged(pair.old, pair.new)
        back = _judged(pair.new, pair.old)
        same = [apply_noise_rules(read_blocks(side), read_blocks(side)) for side in (pair.old, pair.new)]
    except UnparsablePage:
        return
    if _zyklops(pair.old) != _zyklops(pair.new) and not (_is_change(told) or told.rules):
        yield "a word came or went, and nothing is told"
    if told != again:
        yield "the same pair is judged otherwise the second time"
    if any(one.edits or one.wall for one in same):
        yield "a page is another one than itself"
    if _is_change(told) != _is_change(back) and not (told.rules or back.rules):
        yield f"a change one way, and none the other: {told.edits[:2]} {back.edits[:2]}"


def _zyklops(page: bytes) -> int:
    return sum(line.count("Zyklop") for line in read_blocks(page).lines)


def _is_change(page: FilteredPage) -> bool:
    return bool(page.edits or page.wall or page.gone or page.returned or page.leads_to)


def _judged(old: bytes, new: bytes) -> FilteredPage:
    before, after = PageSide(old, "text/html", OLD), PageSide(new, "text/html", NEW)
    return PagePair(URL, ID, before, after).apply_noise_rules(NO_RULES)


def fuzz(seed: int, seconds: float, most: int = sys.maxsize) -> tuple[int, list[str]]:
    """How many pairs were judged in so much time, and what did not hold."""
    found: list[str] = []
    until = time.monotonic() + seconds
    judged = 0
    for pair in pairs(seed):
        if time.monotonic() > until or judged >= most or len(found) >= 5:
            break
        found += [f"seed {seed}, {pair.made_of}: {problem}" for problem in problems(pair)]
        judged += 1
    return judged, found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.unit.changes.fuzzing")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--pair", type=int, help="only this one")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    if options.pair is not None:
        found = list(problems(_pair(Random(f"{options.seed}/{options.pair}"), options.pair)))
        judged = 1
    else:
        judged, found = fuzz(options.seed, options.seconds)
    print(f"{judged} pairs", *found, sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
