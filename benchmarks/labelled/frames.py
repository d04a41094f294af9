"""What all pages of a site share: menu, banner, footer. Editing it is one change of the site, not one of each page."""

from random import Random
from typing import NamedTuple

from benchmarks.labelled import wording
from benchmarks.labelled.shares import share
from benchmarks.labelled.values import Half

EDITS = ("menu", "banner", "footer", "year", "build")


class Frame(NamedTuple):
    """Ready to be written around a page; `year` is the copyright's."""

    menu: tuple[str, ...]
    banner: str
    footer: str
    build: str
    holder: str

    def head(self) -> str:
        items = "".join(f'<li><a href="/{name.lower()}.html">{name}</a></li>' for name in self.menu)
        banner = f'<div class="announcement">{self.banner}</div>' if self.banner else ""
        return f'<header data-frame="1">{banner}<nav><ul>{items}</ul></nav></header>'

    def foot(self, year: int) -> str:
        build = f"<small>build {self.build}</small>" if self.build else ""
        return f'<footer data-frame="1"><p>© 2009–{year} {self.holder}</p><p>{self.footer}</p>{build}</footer>'


def frame(site: Random, half: Half) -> Frame:
    return Frame(
        menu=tuple(site.sample(wording.MENU, 6)),
        banner=site.choice(share(wording.BANNERS, half)) if site.random() < 0.5 else "",
        footer=site.choice(share(wording.SHOPS, half)),
        build=f"{site.getrandbits(28):07x}" if site.random() < 0.4 else "",
        holder=site.choice(("The Manual Company", "Example Software Ltd", "Open Papers e.V.")),
    )


def edited(frame: Frame, kind: str, site: Random, half: Half) -> Frame:
    """With one edit that every page shows."""
    if kind == "menu":
        new = site.choice([name for name in wording.MENU if name not in frame.menu])
        at = site.randrange(len(frame.menu))
        menu = (*frame.menu[:at], new, *frame.menu[at + site.randrange(2) :])
        return frame._replace(menu=menu)
    if kind == "banner":
        others = [text for text in share(wording.BANNERS, half) if text != frame.banner]
        return frame._replace(banner=site.choice(["", *others]) if frame.banner else site.choice(others))
    if kind == "footer":
        return frame._replace(footer=f"{frame.footer} {site.choice(share(wording.BANNERS, half))}")
    return frame._replace(build=f"{site.getrandbits(28):07x}")
