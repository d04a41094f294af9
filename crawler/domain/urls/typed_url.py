"""A web address as people type it: without its scheme, with blanks around it."""

import re
from urllib.parse import urljoin, urlsplit

from crawler.domain.urls.url import Url, parse

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE).match
_THIS_MACHINE = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(?=[:/?#]|$)", re.IGNORECASE).match


def has_scheme(text: str) -> bool:
    return bool(_SCHEME(text.strip()))


def typed_url(text: str) -> Url:
    """The URL that is meant. Without a scheme it is https; on this machine http, as no certificate names it.

    Raises InvalidUrl for what is no web address.
    """
    said = text.strip()
    if not has_scheme(said):
        said = f"{'http' if _THIS_MACHINE(said) else 'https'}://{said.lstrip('/')}"
    return parse(said)


def typed_page(text: str, home: str) -> str:
    """A page of a site that is known by its home: as it is written, by its path, or without the scheme.

    A word that could be anything stays as it is.
    """
    said = text.strip()
    if has_scheme(said) or not {".", ":", "/"} & set(said):
        return said
    return urljoin(home, said) if said.startswith("/") else f"{urlsplit(home).scheme}://{said}"
