"""What changed in the text of one page, line by line."""

from rich.console import Console
from rich.text import Text

from crawler.domain.changes.summary import PageText
from crawler.entrypoints.cli.screen.diff_lines import changed_lines
from crawler.entrypoints.cli.screen.next_step import command_line
from crawler.entrypoints.cli.screen.terminal import clean
from crawler.entrypoints.cli.screen.terminal_text import count

_NO_LINES = "No line of its text differs; its title or description does, or the order of its lines."


def show_text(screen: Console, page: PageText, *, title: bool = True) -> None:
    if title:
        screen.print()
        screen.print(clean(page.url), style="bold", soft_wrap=True)
    for line in page.lines:
        for text in changed_lines(screen, line):
            screen.print(text, soft_wrap=True)
    if page.more:
        whole = command_line("changes", page.url)
        said = f"… and {count(page.more, 'more change')}; '{whole}' shows all of them."
        screen.print(clean(said), style="dim", soft_wrap=True)
    if page.note or not page.lines:
        screen.print(clean(page.note or _NO_LINES), style="dim")


def show_template_edit(
    screen: Console, pages: int, removed: str | None, added: str | None, *, own_values: bool
) -> None:
    """One edit that many pages have. `own_values`: each has a value of its own in it, and this is an example."""
    became = Text(" → ").join(clean(f"“{text}”") if text else Text("nothing") for text in (removed, added))
    on = f"on {count(pages, 'page')}{', for example' if own_values else ''}: "
    screen.print(Text.assemble(("* ", "magenta"), on, became), soft_wrap=True)
