"""A stored page as the document that Firecrawl's clients know."""

import base64
import re
from typing import Any

from crawler.domain.markdown.page_formats import PageFormat, ShapedPage, Wanted
from crawler.domain.pages.scraped import PageEnd, ScrapedVersion

_HUNK = "@@"
_OWN_NAMES = {"description", "title", "language"}


def document(
    version: ScrapedVersion,
    shaped: ShapedPage,
    picture: bytes | None,
    source_url: str,
    wanted: Wanted,
    *,
    from_store: bool = False,
) -> dict[str, Any]:
    lacks_picture = PageFormat.SCREENSHOT in wanted.formats and not picture
    found = {
        "markdown": shaped.markdown,
        "html": shaped.html,
        "rawHtml": shaped.raw_html,
        "links": shaped.links,
        "screenshot": f"data:image/png;base64,{base64.b64encode(picture).decode()}" if picture else None,
        "warning": "There is no screenshot: no browser could be used." if lacks_picture else None,
    }
    metadata: dict[str, Any] = {_name(name): value for name, value in (shaped.meta or {}).items()}
    metadata |= {
        "title": version.title,
        "description": version.description,
        "language": version.language,
        "sourceURL": source_url,
        "url": version.url,
        "statusCode": version.http_status,
        "contentType": version.content_type,
        "scrapeId": str(version.version_id),
        "proxyUsed": "basic",
        "cacheState": "hit" if from_store else "miss",
        "creditsUsed": 0,
    }
    if from_store:
        metadata["cachedAt"] = version.seen_at.isoformat()
    kept = {name: value for name, value in metadata.items() if value is not None}
    return {**{name: value for name, value in found.items() if value is not None}, "metadata": kept}


def error_document(end: PageEnd, source_url: str, words: str) -> dict[str, Any]:
    """A page that the server answered for with an error status: an answer, too."""
    return {
        "markdown": "",
        "metadata": {"sourceURL": source_url, "url": end.url, "statusCode": end.http_status, "error": words},
    }


def _name(written: str) -> str:
    """og:site_name is ogSiteName; others keep the names that the page uses."""
    if written in _OWN_NAMES or not written.startswith(("og:", "dc.", "dcterms.", "article:")):
        return written
    first, *rest = [part for part in re.split(r"[:._-]", written) if part]
    return first + "".join(part.capitalize() for part in rest)


def change_tracking(
    before: ScrapedVersion | None, version: ScrapedVersion, *, is_new_version: bool, diff: dict[str, Any] | None
) -> dict[str, Any]:
    if not is_new_version:
        status, previous = "same", version.changed_at
    elif before is None:
        status, previous = "new", None
    else:
        status, previous = "changed", before.changed_at
    told: dict[str, Any] = {
        "previousScrapeAt": previous.isoformat() if previous else None,
        "changeStatus": status,
        "visibility": "visible",
    }
    if diff is not None:
        told["diff"] = diff
    return told


def parsed_diff(unified: str) -> dict[str, Any]:
    """A unified diff as a list of its changes."""
    chunks: list[dict[str, Any]] = []
    for line in unified.splitlines():
        if line.startswith(("---", "+++")) and not chunks:
            continue
        if line.startswith(_HUNK):
            chunks.append({"content": line, "changes": []})
        elif chunks:
            kind = {"+": "add", "-": "del"}.get(line[:1], "normal")
            chunks[-1]["changes"].append({"type": kind, "content": line})
    return {"files": [{"from": None, "to": None, "chunks": chunks}]}
