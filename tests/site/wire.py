"""Answers that are odd on the wire: slow, hanging, torn, or no HTTP at all."""

from tests.site.answers import Answer, Manner
from tests.site.pages import document

_BODY = document("Odd on the wire", "<h1>Odd on the wire</h1><p>This page has a body of its own.</p>")


def status(code: int, retry_after: str | None = None) -> Answer:
    headers = (("Retry-After", retry_after),) if retry_after is not None else ()
    page = document(f"Status {code}", f"<h1>Status {code}</h1>")
    return Answer(code, (("Content-Type", "text/html"), *headers), page)


def slow(seconds: float) -> Answer:
    return _sent(Manner(delay=seconds))


def drip(seconds: float) -> Answer:
    return _sent(Manner(drip=seconds))


def hang() -> Answer:
    return _sent(Manner(hang=True))


def reset() -> Answer:
    return _sent(Manner(reset=True))


def cut(after: int) -> Answer:
    return _sent(Manner(cut=after))


def endless() -> Answer:
    return _sent(Manner(endless=True))


def garbage() -> Answer:
    return _sent(Manner(raw=bytes(range(256)) * 4))


def http09() -> Answer:
    """A body without any head, as HTTP had it in 1991."""
    return _sent(Manner(raw=_BODY))


def continues(count: int) -> Answer:
    """So many interim answers that the real one is far away."""
    return _sent(Manner(raw=b"HTTP/1.1 103 Early Hints\r\n\r\n" * count + Answer.html(_BODY).encoded()))


def long_header(size: int) -> Answer:
    return Answer.html(_BODY, ("X-Long", "x" * size))


def many_headers(count: int) -> Answer:
    return Answer.html(_BODY, *((f"X-Header-{n}", str(n)) for n in range(count)))


def _sent(manner: Manner) -> Answer:
    return Answer(200, (("Content-Type", "text/html; charset=utf-8"),), _BODY, manner)
