"""Advice when a crawl's first page could not be fetched."""

from crawler.domain.reason_words import meaning
from crawler.domain.reasons import Reason

_OF_A_SEED = {
    Reason.NOT_FOUND: "The server has no such page; check its spelling, or begin at the site's front page.",
    Reason.CONTENT_TYPE: (
        "It is not a web page but another kind of file; begin at a page that links to others, or name its type in "
        "content_types."
    ),
    Reason.REDIRECT_LOOP: "Its redirects go in circles or never end; begin at another page of the site.",
}
_PLAIN_ANSWER = ("wrong version number", "packet length too long", "http request")
"""Parts of OpenSSL's error messages when a server answers in plain HTTP."""


def advice(url: str, reason: Reason, error: str | None) -> str:
    if reason is Reason.TLS and any(words in (error or "") for words in _PLAIN_ANSWER):
        return f"The server does not speak TLS there; try {url.replace('https://', 'http://', 1)}"
    return _OF_A_SEED.get(reason) or meaning(reason)
