"""The site that somebody types without its scheme: https, and http where nobody speaks TLS."""

from crawler.adapters.curl.first_contact import is_unknown, speaks_tls, takes_connections
from crawler.config import Settings
from crawler.domain.urls.typed_url import has_scheme, typed_url
from crawler.domain.urls.url import Url, parse
from crawler.entrypoints.cli.input.run_options import opened_for
from crawler.handlers.crawls.check_reach import CheckKnown


def typed_site(text: str, *, by_proxy: bool) -> Url:
    """The URL that is meant. A word that could be anything is none. What a proxy reaches cannot be tried from here."""
    if has_scheme(text) or (not {".", ":"} & set(text.partition("/")[0]) and "localhost" not in text):
        return parse(text)
    url = typed_url(text)
    if url.scheme == "http" or by_proxy or speaks_tls(*opened_for(url)):
        return url
    plain = parse(url.href.replace("https://", "http://", 1))
    return plain if takes_connections(*opened_for(plain)) else url


def typed_address(text: str, settings: Settings) -> str:
    """A page's address as it is typed, its scheme added if there is none."""
    if has_scheme(text):
        parse(text)
        return text.strip()
    return typed_site(text, by_proxy=_reached_elsewhere(settings)).href


def check_known(url: Url, settings: Settings) -> None:
    """Refuse a host that does not exist, where that can be told from here."""
    CheckKnown(is_unknown, by_proxy=_reached_elsewhere(settings))(url)


def _reached_elsewhere(settings: Settings) -> bool:
    """Whether a proxy or a service fetches: what these reach cannot be tried from here."""
    return settings.proxy_url is not None or settings.api_url is not None
