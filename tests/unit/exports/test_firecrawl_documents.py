"""A page as Firecrawl's clients know it."""

from datetime import UTC, datetime
from uuid import UUID

from crawler.domain.exports.firecrawl_documents import document
from crawler.domain.markdown.page_formats import PageFormat, ShapedPage, Wanted
from crawler.domain.pages.scraped import ScrapedVersion

NOW = datetime(2026, 11, 16, tzinfo=UTC)
URL = "https://example.org/"
VERSION = ScrapedVersion(
    UUID(int=1), UUID(int=2), UUID(int=3), URL, "Kettles", None, None, 200, "text/html", "http", b"", NOW, NOW
)


def test_a_picture_that_could_not_be_taken_is_told() -> None:
    pictured = Wanted(formats=(PageFormat.MARKDOWN, PageFormat.SCREENSHOT))
    without = document(VERSION, ShapedPage(markdown="# Kettles"), None, URL, pictured)
    assert (without["markdown"], "screenshot" in without) == ("# Kettles", False)
    assert "no browser" in without["warning"]
    taken = document(VERSION, ShapedPage(), b"PNG", URL, pictured)
    assert (taken["screenshot"], "warning" in taken) == ("data:image/png;base64,UE5H", False)
    assert "warning" not in document(VERSION, ShapedPage(markdown=""), None, URL, Wanted())
