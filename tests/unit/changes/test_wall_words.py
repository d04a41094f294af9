"""Pages behind a wall are named where somebody looks at a crawl's changes."""

from uuid import UUID

from rich.console import Console

from crawler.domain.changes.summary import ChangeCounts, Compared, CrawlChanges
from crawler.domain.changes.wall_words import pages_behind
from crawler.entrypoints.cli.commands import changes


def note(pages: int, *urls: str) -> dict[str, object]:
    return {"kind": "redirect", "pages": pages, "target": "https://a/login", "example_urls": list(urls)}


def test_the_first_pages_behind_a_wall_are_named_and_the_rest_counted() -> None:
    urls = [f"https://a/{n}" for n in range(6)]
    assert list(pages_behind(note(12, *urls))) == [*urls[:5], "… and 7 more"]
    assert list(pages_behind(note(2, *urls[:2]))) == urls[:2]
    assert list(pages_behind(note(3))) == [], "summaries of before name none"


def test_changes_name_the_pages_behind_a_wall() -> None:
    counts = ChangeCounts(new_pages=0, removed_pages=0, changed_pages=0, unchanged_pages=2)
    found = CrawlChanges.model_validate(
        {
            "crawl_id": UUID(int=1), "compared_to": UUID(int=2), "state": next(iter(Compared)), "summary": counts,
            "wall_notes": [note(4, "https://a/one", "https://a/two")],
        }
    )  # fmt: skip
    screen = Console(record=True, width=200)
    changes._show(screen, found, ())
    lines = [line.rstrip() for line in screen.export_text().splitlines()]
    at = lines.index("4 pages lead to https://a/login for the time being: not compared.")
    assert lines[at + 1 :] == ["  https://a/one", "  https://a/two", "  … and 2 more"]
