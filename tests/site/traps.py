"""Pages whose links never end, or lead where no crawler should go."""

from html import escape
from itertools import count
from urllib.parse import urlencode

from tests.site.answers import Answer
from tests.site.pages import document

_sessions = count(1)

FACETS = {"colour": ("red", "green", "blue"), "size": ("s", "m", "l"), "brand": ("a", "b", "c"), "sort": ("up", "down")}


def calendar(year: int, month: int) -> Answer:
    """Each month links to the next and the one before, for ever."""
    following = (year, month + 1) if month < 12 else (year + 1, 1)
    before = (year, month - 1) if month > 1 else (year - 1, 12)
    links = [f"/x/calendar/{y}/{m}" for y, m in (following, before)]
    return _linking(f"Calendar {year}-{month:02}", links)


def deeper(path: str) -> Answer:
    """A relative link that the server takes seriously: the path grows with each click."""
    return _linking("Deeper", [f"{path.rstrip('/')}/a/b"])


def session(sid: str | None) -> Answer:
    """Every visit hands out new session ids."""
    links = [f"/x/session?sid={next(_sessions):08x}" for _ in range(3)]
    return _linking(f"Session {sid or 'none'}", links)


def facets(chosen: dict[str, str]) -> Answer:
    """Filters that can be combined in any order: few products, thousands of addresses."""
    links = [
        f"/x/facets?{urlencode({**chosen, name: value})}"
        for name, values in FACETS.items()
        if name not in chosen
        for value in values
    ]
    return _linking("Facets", links)


def many_links(number: int) -> Answer:
    return _linking("Many links", [f"/many/{n}" for n in range(number)])


def hrefs(origin: str) -> Answer:
    """Links no crawler should choke on; the last one is good."""
    host = origin.removeprefix("http://")
    return _linking(
        "Hrefs",
        [
            "javascript:alert(1)",
            "mailto:someone@example.org",
            "tel:+4912345",
            "data:text/html,<p>hello",
            "file:///etc/passwd",
            "ftp://127.0.0.1/file",
            f"http://user:secret@{host}/",
            f"http://{host}\\@example.org/",
            "http://127.1/",
            "http://[::ffff:127.0.0.1]/",
            "http://bücher.example/",
            "http://",
            "http://:80/",
            "//",
            "?",
            "#only-a-fragment",
            "",
            "   ",
            f"/x/{'long' * 30_000}",
            "/x/%00",
            "/x/%2e%2e/%2e%2e/",
            "/x/echo?" + "&".join(f"p{n}={n}" for n in range(300)),
            f"{origin}/x/meta/plain",
        ],
    )


def _linking(title: str, links: list[str]) -> Answer:
    items = "\n".join(f'<li><a href="{escape(link)}">{escape(link[:80])}</a></li>' for link in links)
    return Answer.html(document(title, f"<h1>{escape(title)}</h1>\n<ul>\n{items}\n</ul>"))
