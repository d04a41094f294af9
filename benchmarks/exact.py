"""Does a crawl of a real site store exactly the pages its files say are reachable? Told by another parser than ours.

`python -m benchmarks.exact` crawls the PostgreSQL and the Python manual and compares.
"""

import sys
from collections import deque
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

from benchmarks.ours import Ours, ours
from benchmarks.sites import PACKAGES, Sites, serve


class _Links(HTMLParser):
    def __init__(self, url: str) -> None:
        super().__init__()
        self.base = url
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = dict(attributes)
        if tag == "base" and named.get("href"):
            self.base = urljoin(self.base, named["href"] or "")
        if tag in {"a", "area"} or (
            tag == "link" and (named.get("rel") or "").lower() in {"next", "prev", "canonical"}
        ):
            href = named.get("href")
            if href is not None and "nofollow" not in (named.get("rel") or ""):
                self.found.append(href.strip())


def reachable(root: Path, seed: str) -> set[str]:
    """Keys of the HTML pages that links from the seed lead to."""
    start = urlsplit(seed)
    keys: set[str] = {seed}
    queue = deque([seed])
    pages: set[str] = set()
    while queue:
        url = queue.popleft()
        file = _file(root, urlsplit(url).path)
        if file is None:
            continue
        pages.add(_key(url))
        parser = _Links(url)
        parser.feed(file.read_text(encoding="utf-8", errors="replace"))
        for href in parser.found:
            target = urlsplit(urljoin(parser.base, href))
            if (target.scheme, target.netloc) == (start.scheme, start.netloc):
                plain = target._replace(query="", fragment="").geturl()
                if _key(plain) not in keys:
                    keys.add(_key(plain))
                    queue.append(plain)
    return pages


def _key(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path.lower().rstrip('/') or '/'}"


def _file(root: Path, path: str) -> Path | None:
    file = root / unquote(path).lstrip("/")
    if file.is_dir():
        file /= "index.html"
    return file if file.suffix in {".html", ".htm"} and file.is_file() else None


def compare(crawler: Ours, sites: Sites, name: str) -> tuple[set[str], set[str]]:
    """What was stored and should not be, what should be and was not."""
    seed = sites.url(name)
    expected = reachable(PACKAGES[name][1], seed)
    crawl = crawler.crawl(crawler.project(seed))
    rows = crawler.tools.engine.ledger.rows(crawl.id)
    stored = {row.normalized_url for row in rows if row.fetch_state == "done"}
    print(f"{name}: {len(stored)} pages stored, {len(expected)} reachable", flush=True)
    return stored - expected, expected - stored


def main() -> int:
    wrong = 0
    with serve() as sites, ours() as crawler:
        for name in PACKAGES:
            extra, missing = compare(crawler, sites, name)
            for kind, urls in (("not reachable but stored", extra), ("reachable but not stored", missing)):
                for url in sorted(urls)[:10]:
                    print(f"  {kind}: {url}")
                wrong += len(urls)
    print("exact" if not wrong else f"{wrong} differences")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
