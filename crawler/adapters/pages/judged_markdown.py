"""Markdown of stored pages for exports, made by a judge: a page that takes too long does not hold up the others.

How it is made: `domain/markdown/page.py`.
"""

from crawler.domain.judging import OpenJudge
from crawler.domain.markdown.page import stored_markdown
from crawler.domain.markdown.pruning import Pruning
from crawler.domain.pages.files import is_pdf
from crawler.domain.pages.parsing import UnparsablePage
from crawler.domain.pages.pdf_reading import PdfReading, ReadPdf
from crawler.errors import TooSlowToTry

TOO_LARGE = "This page is too large to be read."


class JudgedMarkdown:
    def __init__(self, read_pdf: ReadPdf, open_judge: OpenJudge) -> None:
        self._read_pdf = read_pdf
        self._open_judge = open_judge

    def __call__(self, body: bytes, url: str, content_type: str, pruning: Pruning | None) -> str | None:
        """A page's markdown; None of markup that was built to hurt a parser, and was refused when it was crawled."""
        pdf = self._read_pdf(body) if is_pdf(content_type, body) else None
        with self._open_judge() as judge:
            try:
                return judge.one(_markdown, body, url, content_type, pdf, pruning)
            except TooSlowToTry:
                return TOO_LARGE
            except UnparsablePage:
                return None


def _markdown(body: bytes, url: str, content_type: str, pdf: PdfReading | None, pruning: Pruning | None) -> str:
    return stored_markdown(
        body, url=url, content_type=content_type, read_pdf=lambda _: pdf or PdfReading(""), pruning=pruning
    )
