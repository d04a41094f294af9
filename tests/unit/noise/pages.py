"""Pages in a few words, for tests of comparing."""

from crawler.domain.diffs.page_blocks import PageBlocks, read_blocks

_FILLER = "<p>A page has enough words of its own to be taken for one, whatever else is said about it here.</p>"


def html(body: str, title: str = "A page") -> bytes:
    return f"<html><head><title>{title}</title></head><body>{body}{_FILLER}</body></html>".encode()


def blocks(body: str, title: str = "A page", removed: tuple[str, ...] = ()) -> PageBlocks:
    return read_blocks(html(body, title), removed=removed)
