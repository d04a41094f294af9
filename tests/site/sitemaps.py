"""Sitemaps: the honest one (an index and a compressed part) and hostile ones."""

import gzip
from html import escape

from tests.site.answers import Answer

NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
XML = "application/xml"


def index(parts: list[str]) -> Answer:
    inside = "".join(f"<sitemap><loc>{escape(part)}</loc></sitemap>\n" for part in parts)
    return _xml(f'<sitemapindex xmlns="{NAMESPACE}">\n{inside}</sitemapindex>\n')


def urlset(urls: list[str]) -> Answer:
    inside = "".join(f"<url><loc>{escape(url)}</loc></url>\n" for url in urls)
    return _xml(f'<urlset xmlns="{NAMESPACE}">\n{inside}</urlset>\n')


def zipped(answer: Answer) -> Answer:
    return Answer(200, (("Content-Type", "application/gzip"),), gzip.compress(answer.body, mtime=0))


def laughs(origin: str) -> Answer:
    """Ten levels of entities that would unfold to ten billion copies."""
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 11))
    return _hostile(f'<!ENTITY e0 "{origin}/">{levels}', "&e10;")


def outside_entity(origin: str) -> Answer:
    """An entity that names a local file; the second URL is harmless and should still be found."""
    return _hostile('<!ENTITY file SYSTEM "file:///etc/passwd">', f"{origin}/?stolen=&file;")


def bomb(origin: str, megabytes: int) -> Answer:
    padding = f"<!--{'x' * megabytes * 1_000_000}-->"
    return zipped(_xml(f'<urlset xmlns="{NAMESPACE}">{padding}<url><loc>{origin}/</loc></url></urlset>'))


def _hostile(entities: str, location: str) -> Answer:
    return _xml(f'<!DOCTYPE urlset [{entities}]><urlset xmlns="{NAMESPACE}"><url><loc>{location}</loc></url></urlset>')


def _xml(inside: str) -> Answer:
    return Answer.text(f'<?xml version="1.0" encoding="UTF-8"?>\n{inside}', content_type=XML)
