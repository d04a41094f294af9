"""Links to the page itself, written out in its text, that name a revision: each edit gives them another number."""

import re
from urllib.parse import parse_qsl, unquote, urlsplit

_LINK = re.compile(r"https?://[^\s<>\"'“”«»()\[\]]+")
_REVISION = re.compile(
    r"(?<=[?&;])(?=[\w-]*+=)(?=[\w-]{0,64}(?:old|rev|vers|diff|hist|perma|snapshot))([\w-]++=)"
    r"(\d+|(?=[a-f]*\d)[0-9a-f]{7,64})(?![\w-])",
    re.IGNORECASE,
)
_SCRIPT = re.compile(r"[\w-]+\.(?:php|aspx?|jsp|cgi|pl)|index(?:\.\w+)?").fullmatch
_MARK = r"\1#"
_LONGEST = 2_000
MOST_PARTS = 10


def names_another_revision(old: str, new: str, url: str) -> bool:
    """Whether two lines differ only in the revision that a link to this page names, and it is a later one."""
    if old == new or max(len(old), len(new)) > _LONGEST or _masked(old, url) != _masked(new, url):
        return False
    revisions = zip(_revisions(old, url), _revisions(new, url), strict=True)
    return all(_is_later(before, after) for before, after in revisions if before != after)


def _masked(line: str, url: str) -> str:
    return _LINK.sub(lambda found: _REVISION.sub(_MARK, found[0]) if _is_own(found[0], url) else found[0], line)


def _revisions(line: str, url: str) -> list[str]:
    links = [link for link in _LINK.findall(line) if _is_own(link, url)]
    return [value for link in links for _, value in _REVISION.findall(link)]


def _is_later(old: str, new: str) -> bool:
    return not (old.isdigit() and new.isdigit()) or int(old) < int(new)


def _is_own(link: str, url: str) -> bool:
    """Whether a link leads to this page: at the same host and path, or with the page's name."""
    try:
        there, here = urlsplit(link), urlsplit(url)
    except ValueError:
        return False
    if there.netloc.lower() != here.netloc.lower():
        return False
    if there.path.strip("/") == here.path.strip("/") and not here.query:
        return True
    return bool(_names(there.path, there.query) & (_names("", here.query) | _ends(here.path)))


def _ends(path: str) -> set[str]:
    """What a page may be called by its path: the last part of it, or several."""
    parts = [unquote(part) for part in path.split("/") if part][-MOST_PARTS:]
    names = {"/".join(parts[at:]) for at in range(len(parts))}
    return {name for name in names if not name.isdigit() and not _SCRIPT(name)}


def _names(path: str, query: str) -> set[str]:
    values = [value for _, value in parse_qsl(query)]
    names = {*map(unquote, path.split("/")), *values}
    return {name for name in names if name and not name.isdigit() and not _SCRIPT(name)}
