"""Builds readers of stored pages: lists, contents, links, exports."""

from functools import cached_property
from typing import TYPE_CHECKING

from crawler.adapters.acquisition.extraction_process import ExtractionProcess
from crawler.adapters.acquisition.pdf_texts import PdfTexts
from crawler.adapters.pages.content import PageContent
from crawler.adapters.pages.export import PageExport
from crawler.adapters.pages.judged_markdown import JudgedMarkdown
from crawler.adapters.pages.neighbours import PageNeighbours
from crawler.adapters.pages.reader import PageReader

if TYPE_CHECKING:
    from crawler.bootstrap.app import App


class Pages:
    def __init__(self, app: "App") -> None:
        self._app = app

    @cached_property
    def reader(self) -> PageReader:
        return PageReader(self._app.database)

    @cached_property
    def content(self) -> PageContent:
        return PageContent(self._app.database, self.markdown)

    @cached_property
    def read_pdf(self) -> PdfTexts:
        return PdfTexts(lambda: ExtractionProcess(self._app.settings.extract_timeout_seconds))

    @cached_property
    def markdown(self) -> JudgedMarkdown:
        return JudgedMarkdown(self.read_pdf, self._app.judging.for_exports)

    @cached_property
    def neighbours(self) -> PageNeighbours:
        return PageNeighbours(self._app.database)

    @cached_property
    def export(self) -> PageExport:
        return PageExport(self._app.database, self.markdown, self._app.judging.for_exports)
