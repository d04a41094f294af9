"""Names of files for pages, after the paths of their URLs.

A URL is anybody's text: no name leaves the export's folder, is hidden, or is too long for a file system.
"""

import re
import unicodedata
from hashlib import blake2b
from urllib.parse import unquote, urlsplit

INDEX = "index"
MOST_FOLDERS = 8
LONGEST_PART = 80
"""Bytes of one part of the path; file systems allow 255, and some count twice."""
_MARK_BYTES = 4
_WEB_PAGE = re.compile(r"\.x?html?$", re.IGNORECASE)
_ODD = re.compile(r"[^\w.~+-]+")
_DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE).fullmatch


class PageNames:
    """Names of the pages of one export. Each page gets one of its own, also where upper and lower case are the same.

    A name says its URL; where it cannot, because characters or parts are left out, a mark made of the URL follows. So a
    page has the same name in each export, unless another page took it first.
    """

    def __init__(self, suffix: str) -> None:
        self._suffix = suffix
        self._host: str | None = None
        self._taken: set[str] = set()

    def __call__(self, url: str) -> str:
        """The path of a page's file. Pages of other hosts than the first page's are in folders of their own."""
        host = urlsplit(url).netloc.rpartition("@")[2]
        self._host = self._host or host
        parts, exact = _parts(url)
        if host != self._host:
            parts = [_part(host)[0], *parts]
        name = "/".join(parts)
        if not exact or _same(name) in self._taken:
            name = f"{name}-{_mark(url)}"
        self._taken.add(_same(name))
        return f"{name}{self._suffix}"


def _parts(url: str) -> tuple[list[str], bool]:
    """The folders and the name, and whether no other URL of the host could have these."""
    split = urlsplit(url)
    *folders, last = split.path.removeprefix("/").split("/")
    whole = len(folders) <= MOST_FOLDERS
    shown = [_part(part, folder=True) for part in folders[:MOST_FOLDERS]]
    shown.append(_part(_WEB_PAGE.sub("", last) or INDEX))
    if split.query:
        name, _ = shown.pop()
        shown.append((_part(f"{name}-{split.query}")[0], False))
    return [part for part, _ in shown], whole and all(exact for _, exact in shown)


def _part(text: str, *, folder: bool = False) -> tuple[str, bool]:
    said = unicodedata.normalize("NFC", unquote(text, errors="replace"))
    kept = _ODD.sub("-", said).strip(".-") or "-"
    if _DEVICE(kept) or (folder and kept.lower().endswith(".md")):
        kept += "_"  # a folder must not have the name of another page's file
    cut = kept.encode()[:LONGEST_PART].decode(errors="ignore").rstrip(".")
    return cut, cut == said


def _same(name: str) -> str:
    """What a file system that knows no upper case takes for the same name."""
    return unicodedata.normalize("NFKC", name).casefold()


def _mark(url: str) -> str:
    return blake2b(url.encode(errors="surrogatepass"), digest_size=_MARK_BYTES).hexdigest()
