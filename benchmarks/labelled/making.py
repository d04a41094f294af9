"""Sites out of pages: dressed, fetched at several moments, edited in between."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple

from lxml import html as lxml_html

from benchmarks.labelled import edits, frames, moments, walls, widgets, wording
from benchmarks.labelled.corpus import Source, pages, parse, serialize
from benchmarks.labelled.edits import Tree
from benchmarks.labelled.frames import Frame
from benchmarks.labelled.shares import share
from benchmarks.labelled.values import Half, Label, LabelledSite, Pair, Visit
from benchmarks.labelled.widgets import Widget

REAL_SHARE, WALL_SHARE = 0.45, 0.06
SAMPLE_ONE_IN = 2
"""A crawl looks at up to 20 pages twice; these sites have fewer than twice as many."""
_PLACES = ("top", "bottom", "inside", "after_heading")


class _Plan(NamedTuple):
    """What a site is, and what happens to it between the crawls."""

    half: Half
    first: datetime
    second: datetime
    frame: Frame
    new_frame: Frame
    template_edits: int
    styles: tuple[tuple[str, widgets.Style, str], ...]
    """Kind of widget, how it is written, where."""
    deploys: int


def make_sites(folder: Path, half: Half, count: int, pages_each: int = 24, *, first: int = 0) -> Iterator[LabelledSite]:
    """The same for the same arguments."""
    for number in range(first, first + count):
        site = Random(f"site {half} {number} {folder.name}")
        sources = pages(folder, half, site, pages_each)
        plan = _plan(half, site)
        pairs = [
            pair for at, source in enumerate(sources) if (pair := _pair(plan, source, at, f"s{number}")) is not None
        ]
        yield LabelledSite(f"{half}-{folder.name}-{number}", tuple(pairs), plan.template_edits)


def _plan(half: Half, site: Random) -> _Plan:
    first = moments.FIRST_DAY + timedelta(days=site.uniform(0, 60))
    second = first + timedelta(days=site.choice((1, 1, 7, 7, 14, 30)), minutes=site.uniform(-90, 90))
    frame = frames.frame(site, half)
    kinds = site.sample(frames.EDITS[:3], site.choice((0, 0, 1, 1, 2)))
    new = frame
    for kind in kinds:
        new = frames.edited(new, kind, site, half)
    deploys = int(bool(kinds) or site.random() < 0.3)
    if frame.build and deploys:
        new = frames.edited(new, "build", site, half)
    chosen = site.sample(sorted(widgets.KINDS), site.randrange(2, 7))
    styles = tuple((kind, widgets.style(widgets.KINDS[kind][1], half, site), site.choice(_PLACES)) for kind in chosen)
    return _Plan(half, first, second, frame, new, len(kinds), styles, deploys)


class _Page(NamedTuple):
    """One page of a site, ready to be fetched at any moment."""

    plan: _Plan
    key: str
    seconds: float
    """After the crawl's start."""
    growth: int
    """Fetches by others between the crawls."""
    widgets: tuple[Widget, ...]

    def earlier(self, tree: Tree, again: bool) -> bytes:
        return self._fetched(tree, self.plan.first, int(again), self.plan.frame, 0, "")

    def later(self, tree: Tree, again: bool, remark: str) -> bytes:
        return self._fetched(tree, self.plan.second, 2 + again, self.plan.new_frame, self.plan.deploys, remark)

    def _fetched(self, tree: Tree, start: datetime, visit: int, frame: Frame, deploy: int, remark: str) -> bytes:
        # The second look comes when the crawl is otherwise done.
        at = start + timedelta(seconds=600 + self.seconds / 4 if visit % 2 else self.seconds)
        fetches = visit * 7 + (visit > 1) * self.growth
        told = Visit(at, Random(f"visit {visit} {self.key}"), deploy, fetches, remark)
        return _written(tree, self.widgets, told, frame)


def _pair(plan: _Plan, source: Source, at: int, site: str) -> Pair | None:
    """None: a page on which nothing happens at all between the crawls."""
    key = f"{site} {source.path}"
    random = Random(f"page {plan.half} {key}")
    base = _dressed(plan, source, random)
    page = _Page(plan, key, random.uniform(0, 600), random.randrange(1, 900), _widgets(plan, random))
    fate, sampled, url = random.random(), at % SAMPLE_ONE_IN == 0, f"https://{site}.example/{source.path}"
    before = page.earlier(base, again=False)
    again = page.earlier(base, again=True) if sampled else None
    before_at, after_at = (start + timedelta(seconds=page.seconds) for start in (plan.first, plan.second))
    if fate > 1 - WALL_SHARE:
        wall = walls.wall(random, plan.half)
        return Pair(url, before, wall, again, None, Label.NOISE, before_at, after_at, "wall")
    edited, kind, remark = parse(serialize(base)), "", ""
    if fate < REAL_SHARE:
        remark = _remark(plan, random)
        kind = "remark" if remark else _edit(edited, random, plan)
    after = page.later(edited, again=False, remark=remark)
    after_again = page.later(edited, again=True, remark=remark) if sampled else None
    if before == after:
        return None
    label = Label.REAL if kind else Label.NOISE
    return Pair(url, before, after, again, after_again, label, before_at, after_at, kind or "noise")


def _remark(plan: _Plan, random: Random) -> str:
    has_comments = any(kind == "comments" for kind, _style, _place in plan.styles)
    return random.choice(share(wording.SENTENCES, plan.half)) if has_comments and random.random() < 0.3 else ""


def _dressed(plan: _Plan, source: Source, page: Random) -> Tree:
    """The page with places for what the site adds, and with facts an author would change."""
    tree = parse(source.body)
    body = tree.find("body")
    if page.random() < 0.4:
        body.insert(min(1, len(body)), _facts(plan.half, page))
    for number, (_kind, _style, place) in enumerate(plan.styles):
        slot = lxml_html.Element("slot-here", number=str(number))
        _insert(body, slot, place, page)
    return tree


def _facts(half: Half, page: Random) -> Tree:
    box = lxml_html.Element("div")
    box.set("class", "facts")
    for text in page.sample(share(wording.FACTS, half), 2):
        line = lxml_html.Element("p")
        line.text, new = text.format(**_fact(page)), text.format(**_fact(page))
        if new != line.text:
            line.set("data-fact", new)
        box.append(line)
    return box


def _fact(page: Random) -> dict[str, str]:
    day = moments.FIRST_DAY + timedelta(days=page.randrange(30, 900))
    return {
        "price": page.choice(("€ {}.00", "${}.99", "{} EUR", "£{}")).format(page.randrange(5, 900)),
        "version": f"{page.randrange(1, 9)}.{page.randrange(20)}.{page.randrange(20)}",
        "date": f"{day:%d %B %Y}",
    }


def _insert(body: Tree, slot: Tree, place: str, page: Random) -> None:
    heading = body.find(".//h1")
    heading = heading if heading is not None else body.find(".//h2")
    if place == "top":
        body.insert(0, slot)
    elif place == "after_heading" and heading is not None:
        heading.addnext(slot)
    elif place == "inside":
        paragraphs = [node for node in body.iter("p") if not node.get("data-fact")]
        page.choice(paragraphs).addnext(slot)
    else:
        body.append(slot)


def _widgets(plan: _Plan, page: Random) -> tuple[Widget, ...]:
    return tuple(widgets.KINDS[kind][0](style, page) for kind, style, _place in plan.styles)


def _edit(tree: Tree, page: Random, plan: _Plan) -> str:
    """The first edit the page allows, of all in a random order."""
    kinds = list(edits.KINDS)
    page.shuffle(kinds)
    if tree.find(".//*[@data-fact]") is not None and page.random() < 0.5:
        kinds.insert(0, "fact")
    text = _said(tree)
    for kind in kinds:
        if edits.KINDS[kind](tree, page, plan.half) and _said(tree) != text:
            return kind
    return ""


def _said(tree: Tree) -> str:
    title = tree.findtext(".//title") or ""
    words = tree.find("body").xpath(".//text()[not(ancestor::script or ancestor::style)]")
    return " ".join(f"{title} {' '.join(words)}".split())


def _written(tree: Tree, made: tuple[Widget, ...], visit: Visit, frame: Frame) -> bytes:
    text = serialize(tree).decode()
    for number, widget in enumerate(made):
        text = text.replace(f'<slot-here number="{number}"></slot-here>', widget(visit))
    start = text.index(">", text.index("<body")) + 1
    end = text.rindex("</body>")
    year = visit.at.year
    return f"{text[:start]}{frame.head()}{text[start:end]}{frame.foot(year)}{text[end:]}".encode()
