"""The site that somebody types without its scheme: https, and http where nobody speaks TLS."""

from crawler.adapters.curl.first_contact import is_unknown, speaks_tls, takes_connections
from crawler.config import Settings
from crawler.domain.urls.typed_url import has_scheme, page_url, shown, typed_url, why_no_address
from crawler.domain.urls.url import Url, parse
from crawler.entrypoints.cli.input.run_options import opened_for
from crawler.errors import InvalidUrl
from crawler.handlers.crawls.check_reach import CheckKnown

_LONGEST_NAME = 63
"""Characters of one label of a host's name."""


def typed_site(text: str, *, by_proxy: bool) -> Url:
    """The URL that is meant. A word that could be anything is none. What a proxy reaches cannot be tried from here."""
    if has_scheme(text):
        return page_url(text)
    if why := why_no_address(text):
        raise InvalidUrl(why)
    host = text.strip().partition("/")[0]
    if not {".", ":"} & set(host) and "localhost" not in text:
        example = f"http://{host} for a machine of that name" if len(host) <= _LONGEST_NAME else "http://host"
        raise InvalidUrl(f"{shown(text)} is not a whole web address; write one such as example.org, or {example}.")
    url = typed_url(text)
    if url.scheme == "http" or by_proxy or speaks_tls(*opened_for(url)):
        return url
    plain = parse(url.href.replace("https://", "http://", 1))
    return plain if takes_connections(*opened_for(plain)) else url


def typed_address(text: str, settings: Settings) -> str:
    """A page's address as it is typed, its scheme added if there is none."""
    if has_scheme(text):
        page_url(text)
        return text.strip()
    return typed_site(text, by_proxy=_reached_elsewhere(settings)).href


def check_known(url: Url, settings: Settings) -> None:
    """Refuse a host that does not exist, where that can be told from here."""
    CheckKnown(is_unknown, by_proxy=_reached_elsewhere(settings))(url)


def _reached_elsewhere(settings: Settings) -> bool:
    """Whether a proxy or a service fetches: what these reach cannot be tried from here."""
    return settings.proxy_url is not None or settings.api_url is not None
