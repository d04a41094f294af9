"""The canonical URL that a `Link` header names."""

import re

from crawler.domain.urls.url import Url, read

_LINK = re.compile(r"<([^<>]*)>((?:\s*;\s*[^;,=]+(?:=\s*(?:\"[^\"]*\"|[^;,\"]*))?)*)")
_REL = re.compile(r";\s*rel\s*=\s*(?:\"([^\"]*)\"|([^;,\s]*))", re.IGNORECASE)


def header_canonical(header: str, base: str) -> str | None:
    """The first usable one, absolute."""
    for link in _LINK.finditer(header):
        rel = _REL.search(link[2])
        if rel and "canonical" in (rel[1] or rel[2] or "").lower().split():
            url = read(link[1], base)
            return url.href if isinstance(url, Url) else None
    return None
