"""What to do about a first address that could not be fetched: mostly it was mistyped."""

from crawler.domain.engine.ledger import SeedState
from crawler.domain.reason_words import MEANINGS
from crawler.domain.reasons import Reason
from crawler.domain.urls.url import Url, read

_NO_TLS = ("wrong version number", "packet length", "unexpected message", "record layer failure", "http request")
"""What TLS libraries say of a server that answers in plain HTTP."""
_WORDS = {
    Reason.DNS: "There is no host of this name: check its spelling.",
    Reason.CONNECT: "Nobody answers there: check the address and its port, and that the server is up.",
    Reason.NOT_FOUND: "The server is there, but has no such page: check the path.",
}


def seed_advice(seed: SeedState | None) -> str:
    """A sentence for people; empty where nothing is known."""
    if seed is None or not seed.reason:
        return ""
    url = read(seed.url)
    said = (seed.error or "").lower()
    if seed.reason == Reason.TLS and isinstance(url, Url) and url.scheme == "https" and "certificate" not in said:
        sure = any(words in said for words in _NO_TLS)
        plain = url.href.replace("https://", "http://", 1)
        return f"This server does not answer in https here{'' if sure else ', or not as it should'}; try {plain}"
    return _WORDS.get(Reason(seed.reason)) or MEANINGS[Reason(seed.reason)]
