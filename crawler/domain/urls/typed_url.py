"""A web address as people type it: without its scheme, with blanks around it."""

import re

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
