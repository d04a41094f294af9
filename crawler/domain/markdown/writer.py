"""Markdown from what a page tells in order: text, marks, blocks that begin and end."""

from crawler.domain.markdown.inline import clean, code_block, code_span, escape
from crawler.domain.markdown.lines import MarkdownLines
from crawler.domain.markdown.paragraph import LINK, Paragraph, paragraph_lines
from crawler.domain.markdown.table import TableOfData


class _List:
    def __init__(self, first: int | None = None, *, inside_item: bool = False) -> None:
        self._number = first
        self.tight = inside_item and first in (None, 1)
        """The next item needs no empty line before it. A list that begins with 3 needs one, to be a list."""

    def marker(self) -> str:
        if self._number is None:
            return "- "
        self._number += 1
        return f"{self._number - 1}. "


class MarkdownWriter:
    """Writes markdown block by block. Each `begin` that says it began something wants its `end`."""

    def __init__(self) -> None:
        self._out = MarkdownLines()
        self._line = Paragraph()
        self._lists = [_List()]
        self._items = 0
        self._tables: list[TableOfData | None] = []
        self._one_line = False
        """Inside a heading or a table of data, where blocks are only spaces."""

    def __str__(self) -> str:
        self.break_block()
        return str(self._out)

    # ---- inside a line

    def text(self, text: str) -> None:
        self._line.add(escape(clean(text)))

    def code(self, text: str) -> None:
        self._line.add(code_span(text))

    def image(self, image: str) -> None:
        self._line.add(image)

    def break_line(self) -> None:
        self._line.add(" " if self._one_line else "\n")

    def begin_mark(self, mark: str) -> bool:
        return self._line.begin(mark)

    def begin_link(self, address: str) -> bool:
        return bool(address) and self._line.begin(LINK, address)

    def end_mark(self) -> None:
        self._line.end()

    def since_begin(self) -> str:
        return self._line.since_begin().strip(" \\")

    def forget_link(self) -> None:
        self._line.forget()

    # ---- blocks

    def break_block(self) -> None:
        """A block begins or ends here."""
        if self._one_line:
            self._line.add(" ")
            return
        text = self._line.take()
        if text:
            self._out.block(paragraph_lines(text))

    def begin_heading(self) -> bool:
        self.break_block()
        began, self._one_line = not self._one_line, True
        return began

    def end_heading(self, level: int) -> None:
        self._one_line = False
        text = self._line.take()
        if text.endswith("#"):  # it would be taken for the heading's other end
            text = text[:-1] + r"\#"
        if text:
            self._out.block([f"{'#' * level} {text}"])

    def code_block(self, text: str, language: str) -> None:
        if self._one_line:
            self.code(text)
            return
        self.break_block()
        self._out.block(code_block(text, language))

    def rule(self) -> None:
        self.break_block()
        if not self._one_line:
            self._out.block(["---"])

    def begin_quote(self) -> None:
        self.break_block()
        if not self._one_line:
            self._out.begin_quote()

    def end_quote(self) -> None:
        self.break_block()
        if not self._one_line:
            self._out.end()

    def begin_list(self, first: int | None) -> None:
        """`first` number; None for bullets."""
        self.break_block()
        self._lists.append(_List(first, inside_item=self._items > 0))

    def end_list(self) -> None:
        self.break_block()
        self._lists.pop()

    def begin_item(self) -> None:
        self.break_block()
        if not self._one_line:
            self._items += 1
            listed = self._lists[-1]
            self._out.begin_item(listed.marker(), tight=listed.tight)

    def end_item(self) -> None:
        self.break_block()
        if not self._one_line:
            self._items -= 1
            if self._out.end():
                self._lists[-1].tight = True

    # ---- tables

    @property
    def is_one_line(self) -> bool:
        return self._one_line

    def begin_table(self, *, of_data: bool) -> None:
        """One that is not `of_data` only places blocks on the page."""
        self.break_block()
        self._tables.append(TableOfData() if of_data else None)
        self._one_line = self._one_line or of_data

    def end_table(self) -> None:
        table = self._tables.pop()
        if table is None:
            self.break_block()
            return
        self._line.take()
        self._one_line = False
        self._out.block(table.lines())

    def begin_row(self) -> None:
        table = self._table
        if table is not None:
            table.begin_row()
        else:
            self.break_block()

    def begin_cell(self) -> None:
        if self._table is not None:
            self._line.take()
        else:
            self.break_block()

    def end_cell(self, *, heads: bool, span: int) -> None:
        table = self._table
        if table is not None:
            table.cell(self._line.take(), heads=heads, span=span)
        else:
            self.break_block()

    def end_caption(self) -> None:
        if self._table is None:
            self.break_block()
            return
        text = self._line.take()
        if text:
            self._out.block(paragraph_lines(text))

    @property
    def _table(self) -> TableOfData | None:
        return self._tables[-1] if self._tables else None
