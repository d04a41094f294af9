"""A web address as people type it: without its scheme, with blanks around it."""

import re
from urllib.parse import urljoin, urlsplit

from crawler.domain.urls.url import Url, parse
from crawler.domain.urls.views import names_view
from crawler.errors import InvalidUrl

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE).match
_THIS_MACHINE = re.compile(r"(localhost|127(\.\d{1,3}){3}|\[::1\])(?=[:/?#]|$)", re.IGNORECASE).match

_MAIL = re.compile(r"[^@\s/:]{1,64}@([^@\s/:]{1,253})").fullmatch
_LONGEST_SHOWN = 60


def has_scheme(text: str) -> bool:
    return bool(_SCHEME(text.strip()))


def typed_url(text: str) -> Url:
    """The URL that is meant. Without a scheme it is https; on this machine http, as no certificate names it.

    Raises InvalidUrl for what is no web address.
    """
    said = text.strip()
    if not has_scheme(said):
        if why := why_no_address(said):
            raise InvalidUrl(why)
        said = f"{'http' if _THIS_MACHINE(said) else 'https'}://{said.lstrip('/')}"
    return page_url(said)


def page_url(text: str) -> Url:
    """The URL of a page to crawl. Raises InvalidUrl also for a view that only scripts show, behind a `#`.

    Pages have addresses without it: the page before the `#` would be watched, and nobody would know.
    """
    page, _, view = text.strip().partition("#")
    if names_view(view):
        raise InvalidUrl(
            f"What {shown(text.strip())} shows behind the # is no page of its own and cannot be crawled; "
            f"write {page} to crawl the page before it."
        )
    return parse(text)


def why_no_address(text: str) -> str | None:
    """What is wrong with something typed that has no scheme, with an example; None if it may be an address."""
    said = text.strip()
    host = re.split(r"[/?#]", said, maxsplit=1)[0]
    if not said:
        return "No address was given; write one such as example.org."
    if mail := _MAIL(said):
        return f"{shown(said)} looks like a mail address; write a web address such as {mail[1]}."
    if any(map(str.isspace, host)):
        return f"{shown(said)} has a blank in the name of its host; write an address such as example.org."
    if host.isdecimal():
        return f"{shown(said)} is a number without a host; write an address such as localhost:8080."
    return None


def shown(text: str) -> str:
    """Something typed, as a sentence quotes it."""
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…")


def typed_page(text: str, home: str) -> str:
    """A page of a site that is known by its home: as it is written, by its path, or without the scheme.

    A word that could be anything stays as it is.
    """
    said = text.strip()
    if has_scheme(said) or not {".", ":", "/"} & set(said):
        return said
    return urljoin(home, said) if said.startswith("/") else f"{urlsplit(home).scheme}://{said}"
