"""The site that somebody types without its scheme: https, and http where nobody speaks TLS."""

from crawler.adapters.curl.first_contact import speaks_tls, takes_connections
from crawler.domain.urls.typed_url import has_scheme, typed_url
from crawler.domain.urls.url import Url, parse
from crawler.entrypoints.cli.input.run_options import opened_for


def typed_site(text: str, *, by_proxy: bool) -> Url:
    """The URL that is meant. A word that could be anything is none. What a proxy reaches cannot be tried from here."""
    if has_scheme(text) or (not {".", ":"} & set(text.partition("/")[0]) and "localhost" not in text):
        return parse(text)
    url = typed_url(text)
    if url.scheme == "http" or by_proxy or speaks_tls(*opened_for(url)):
        return url
    plain = parse(url.href.replace("https://", "http://", 1))
    return plain if takes_connections(*opened_for(plain)) else url
