"""RESULTS.md: one section a part. A run replaces the sections of the parts it measured and keeps the others."""

from collections.abc import Mapping, Sequence

HEADING = "## "
OWN_WORDS = "Where it is short, and what was tried"
"""Written by people, kept by every run."""
INTRODUCTION = """# Results

Made by `make bench`; `make bench ARGS="--only NAME"` measures one part again and leaves the other sections as they
were. Pages per second are counted in nginx's own log, from the first page's request to the last one's, for everybody.
CPU and memory are those of every process that works for the crawl; ours are the workers, Postgres and Valkey, with
everything durable. Memory is the sum of resident sizes, so what processes share counts several times.
"""


def merge(document: str, new: Mapping[str, str], order: Sequence[str]) -> str:
    """The document with these sections in place of those of the same title. `order` is that of all titles."""
    sections = {**sections_of(document), **new}
    known = [title for title in (*order, OWN_WORDS) if title in sections]
    parts = [f"{HEADING}{title}\n\n{sections[title].strip()}\n" for title in known]
    return "\n".join([INTRODUCTION, *parts])


def sections_of(document: str) -> dict[str, str]:
    """Bodies by title."""
    sections: dict[str, str] = {}
    for part in f"\n{document}".split(f"\n{HEADING}")[1:]:
        title, _, body = part.partition("\n")
        sections[title.strip()] = body.strip()
    return sections
