"""`crawler get` and `crawler map`: one page, or the URLs of a site, through a service or on this machine.

Done in `entrypoints/cli/actions/get.py`.
"""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crawler.domain.crawls.crawl_choices import RenderMode
from crawler.lazy_module import LazyModule

if TYPE_CHECKING:
    from crawler.entrypoints.cli.actions import get as getting
else:
    getting = LazyModule("crawler.entrypoints.cli.actions.get")


class Form(StrEnum):
    MARKDOWN = "markdown"
    HTML = "html"
    RAW_HTML = "raw_html"
    TEXT = "text"
    LINKS = "links"
    SCREENSHOT = "screenshot"
    METADATA = "metadata"


def get(
    url: Annotated[str, typer.Argument(metavar="URL", help="The page, such as example.org/prices; https is added.")],
    form: Annotated[Form, typer.Option("--format", help="What is printed.")] = Form.MARKDOWN,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write to this file instead.")] = None,
    whole: Annotated[bool, typer.Option("--whole", help="With navigation, header and footer.")] = False,
    select: Annotated[
        list[str] | None, typer.Option(metavar="CSS", help="Only what this selector names; may be repeated.")
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(metavar="CSS", help="Without what this names; may be repeated.")
    ] = None,
    render: Annotated[RenderMode | None, typer.Option(help="Whether a browser is used [default: auto].")] = None,
    max_age: Annotated[int, typer.Option(metavar="SECONDS", min=0, help="Take what is stored if it is not older.")] = 0,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, max=120, help="How long to wait.")] = 60.0,
) -> None:
    """Fetch one page politely and print it; its snapshot is kept."""
    asked = getting.Asked(
        url=url,
        form=form.value,
        whole=whole,
        select=tuple(select or ()),
        without=tuple(without or ()),
        render=render or RenderMode.AUTO,
        max_age=max_age,
        timeout=timeout,
    )
    getting.print_page(asked, output)


def map_site(
    url: Annotated[str, typer.Argument(metavar="URL", help="The site, such as example.org; https is added.")],
    search: Annotated[str, typer.Option(metavar="WORDS", help="Only URLs and titles with one of these words.")] = "",
    subdomains: Annotated[bool, typer.Option("--subdomains", help="Those of its subdomains, too.")] = False,
    ignore_query: Annotated[bool, typer.Option("--ignore-query", help="Without what follows a ?.")] = False,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=50_000, help="Most URLs.")] = 5000,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write to this file instead.")] = None,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, max=120, help="How long to wait.")] = 60.0,
) -> None:
    """Print the URLs of a site, one a line: its sitemaps, what is stored, and the links of one page."""
    asked = getting.MapAsked(url, search, subdomains, ignore_query, limit, timeout)
    getting.print_map(asked, output)
