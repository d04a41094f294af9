"""What stands around the words of a page and changes by itself."""

import re
from collections.abc import Callable
from datetime import timedelta
from hashlib import md5
from random import Random
from typing import NamedTuple

from benchmarks.labelled import moments, wording
from benchmarks.labelled.shares import share
from benchmarks.labelled.values import Half, Visit

Widget = Callable[[Visit], str]
_HOLDS_BLOCKS = re.compile("<(?:h4|ul|p|blockquote|form)[ >]")


class Style(NamedTuple):
    """How a site writes one of its widgets; the same on all its pages."""

    half: Half
    text: str
    head: str
    tag: str
    class_name: str
    hashed: bool
    """The class has an ending that each release changes."""
    inline: bool
    """In the middle of a line of other words."""
    date: str
    time: str
    comma: str
    short: bool

    def box(self, visit: Visit, inner: str) -> str:
        name = self.class_name
        if self.hashed:
            name = f"{name}_{md5(f'{name}{visit.deploy}'.encode()).hexdigest()[:6]}"
        # Headings and lists cannot stand in a paragraph or a span: browsers would tear them apart.
        tag = "div" if self.tag in {"p", "span"} and _HOLDS_BLOCKS.search(inner) else self.tag
        return f'<{tag} class="{name}">{inner}</{tag}>'

    def line(self, visit: Visit, text: str) -> str:
        if self.inline:
            text = f"{self.head}. {text} · {wording.SHOPS[len(self.head) % len(wording.SHOPS)]}"
        return self.box(visit, text)

    def number(self, count: int) -> str:
        return f"{count:,}".replace(",", self.comma)


def style(texts: tuple[str, ...], half: Half, site: Random) -> Style:
    return Style(
        half=half,
        text=site.choice(share(texts, half)),
        head=site.choice(share(wording.RELATED_HEADS, half)),
        tag=site.choice(("div", "p", "section", "span", "aside")),
        class_name=f"{site.choice(share(wording.CLASSES, half))}-{site.randrange(10)}",
        hashed=site.random() < 0.2,
        inline=site.random() < 0.25,
        date=site.choice(share(moments.DATES, half)),
        time=site.choice(share(moments.TIMES, half)),
        comma=site.choice((",", "", ".", " ")),
        short=site.random() < 0.2,
    )


def _token(random: Random) -> str:
    text = md5(str(random.random()).encode()).hexdigest()
    return random.choice((text[:16], text, f"{text[:8]}-{text[8:12]}-{text[12:16]}", text[:12].upper()))


def request(own: Style, _page: Random) -> Widget:
    return lambda visit: own.line(visit, own.text.format(token=_token(visit.random)))


def served(own: Style, _page: Random) -> Widget:
    def write(visit: Visit) -> str:
        pick = visit.random
        values = {"seconds": f"{pick.uniform(0.01, 0.9):.3f}", "millis": pick.randrange(10, 900)}
        values |= {"server": f"web-{pick.randrange(1, 9):02d}", "queries": pick.randrange(5, 60)}
        return own.line(visit, own.text.format(**values))

    return write


def views(own: Style, page: Random) -> Widget:
    base = page.randrange(100, 900_000)
    return lambda visit: own.line(visit, own.text.format(count=own.number(base + visit.fetches)))


def online(own: Style, _page: Random) -> Widget:
    def write(visit: Visit) -> str:
        few = visit.random.randrange(2, 400)
        return own.line(visit, own.text.format(few=few, fewer=visit.random.randrange(1, 30)))

    return write


def slow_count(own: Style, page: Random) -> Widget:
    """Counted once a day: two fetches in a row see the same."""
    base, growth = page.randrange(20, 50_000), page.randrange(1, 90)
    return lambda visit: own.line(
        visit, own.text.format(count=own.number(base + growth * (visit.at.toordinal() % 1000)))
    )


def clock(own: Style, _page: Random) -> Widget:
    def write(visit: Visit) -> str:
        return own.line(visit, own.text.format(time=visit.at.strftime(own.time), date=visit.at.strftime(own.date)))

    return write


def today(own: Style, _page: Random) -> Widget:
    def write(visit: Visit) -> str:
        return own.line(visit, own.text.format(weekday=f"{visit.at:%A}", date=visit.at.strftime(own.date)))

    return write


def stamp(own: Style, page: Random) -> Widget:
    """When the page was last written out; sites that are built anew each night stamp every page."""
    back = timedelta(minutes=page.randrange(600))

    def write(visit: Visit) -> str:
        at = visit.at.replace(hour=3, minute=0, second=0, microsecond=0) - back
        return own.line(visit, own.text.format(date=at.strftime(own.date), time=at.strftime(own.time)))

    return write


def age(own: Style, page: Random) -> Widget:
    days = timedelta(days=page.uniform(0.1, 300))

    def write(visit: Visit) -> str:
        return own.line(visit, own.text.format(ago=moments.ago(moments.FIRST_DAY - days, visit.at, short=own.short)))

    return write


def comments(own: Style, page: Random) -> Widget:
    """Remarks of readers, each with its age. The remarks themselves are what the page says."""
    posts = [(page.choice(wording.NAMES), remark, timedelta(days=page.uniform(0.05, 200)))
             for remark in page.sample(share(wording.REMARKS, own.half), 2)]  # fmt: skip

    def write(visit: Visit) -> str:
        lines: list[str] = []
        for name, remark, back in posts:
            said = remark if lines else f"{remark} {visit.remark}".strip()
            ago = moments.ago(moments.FIRST_DAY - back, visit.at, short=own.short)
            lines.append(own.text.format(name=name, remark=said, ago=ago))
        return own.box(visit, "".join(f'<blockquote class="comment">{line}</blockquote>' for line in lines))

    return write


def advertisement(own: Style, _page: Random) -> Widget:
    ads = share(wording.ADS, own.half)

    def write(visit: Visit) -> str:
        shown = visit.random.sample(ads, visit.random.choice((1, 1, 2)))
        items = "".join(f'<p><a href="/out/{visit.random.randrange(10**6)}">{text}</a></p>' for text in shown)
        return own.box(visit, f"<h4>{own.text}</h4>{items}")

    return write


def tip(own: Style, _page: Random) -> Widget:
    quotes = share(wording.QUOTES, own.half)
    return lambda visit: own.box(visit, visit.random.choice(quotes))


def recommended(own: Style, _page: Random) -> Widget:
    titles = share(wording.TITLES, own.half)
    return lambda visit: _links(own, visit, visit.random.sample(titles, 4))


def shuffled(own: Style, page: Random) -> Widget:
    titles = page.sample(share(wording.TITLES, own.half), 5)
    return lambda visit: _links(own, visit, visit.random.sample(titles, 5))


def _links(own: Style, visit: Visit, titles: list[str]) -> str:
    session = _token(visit.random)
    items = "".join(f'<li><a href="/r/{len(title)}?sid={session}">{title}</a></li>' for title in titles)
    return own.box(visit, f"<h4>{own.head}</h4><ul>{items}</ul>")


def hidden(own: Style, _page: Random) -> Widget:
    """Tokens that nobody sees: in fields, attributes, scripts."""

    def write(visit: Visit) -> str:
        token, build = _token(visit.random), md5(str(visit.deploy).encode()).hexdigest()[:10]
        field = f'<input type="hidden" name="csrf_token" value="{token}">'
        script = f'<script src="/app.{build}.js" nonce="{token}"></script><script>window.t="{token}"</script>'
        link = f'<a href="/account;jsessionid={token}" data-trace="{token}">Account</a>'
        return own.box(visit, f'<form action="/s?sid={token}">{field}</form>{link}{script}<!-- {token} -->')

    return write


KINDS: dict[str, tuple[Callable[[Style, Random], Widget], tuple[str, ...]]] = {
    "request": (request, wording.REQUEST),
    "served": (served, wording.SERVED),
    "views": (views, wording.VIEWS),
    "online": (online, wording.ONLINE),
    "slow_count": (slow_count, wording.SLOW_COUNTS),
    "clock": (clock, wording.CLOCK),
    "today": (today, wording.TODAY),
    "stamp": (stamp, wording.STAMP),
    "age": (age, wording.AGO),
    "comments": (comments, wording.COMMENT),
    "advertisement": (advertisement, wording.AD_HEADS),
    "tip": (tip, wording.RELATED_HEADS),
    "recommended": (recommended, wording.RELATED_HEADS),
    "shuffled": (shuffled, wording.RELATED_HEADS),
    "hidden": (hidden, wording.RELATED_HEADS),
}
