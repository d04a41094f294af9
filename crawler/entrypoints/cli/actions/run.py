"""Crawls one website on this machine, from start to summary.

The options are checked in `entrypoints/cli/input/run_options.py`; the crawl is started and watched by
`entrypoints/cli/watching/watch_crawl.py`.
"""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.domain.crawls.crawl_choices import RenderMode
from crawler.entrypoints.cli.interrupts import interrupted_afterwards
from crawler.lazy_module import LazyModule, on_first_use

if TYPE_CHECKING:
    from crawler.entrypoints.cli.watching import watch_crawl as watching
else:
    watching = LazyModule("crawler.entrypoints.cli.watching.watch_crawl")

with on_first_use():
    from crawler.adapters.pages.export_files import ExportPlace
    from crawler.config import load_settings
    from crawler.domain.crawls.project import checked_name, name_after
    from crawler.entrypoints.cli.input.run_options import (
        Order,
        check_origin,
        checked_config,
        read_formats,
        read_headers,
        read_urls,
        shows_value,
    )
    from crawler.entrypoints.cli.input.typed_site import typed_site
    from crawler.entrypoints.cli.watching.early_start import import_workers, servers_begun

ERASE = "\r\x1b[K"
"""ANSI code that erases the current line."""
VISIBLE = (
    "Everybody on this machine can read the value of --header 'Name: value' in the list of processes. "
    "Use --header @FILE, --header NAME or --header-env; the next release refuses values here."
)


def crawl_site(
    url: str,
    given: Mapping[str, Any],
    *,
    urls_file: Path | None,
    header: Sequence[str],
    header_env: Sequence[str],
    project: str | None,
    workers: int | None,
    export: ExportPlace | None,
    formats: Sequence[str],
    as_json: bool,
) -> int:
    """Returns the exit status. `given`: options of the crawl by name, None where the default is meant."""
    settings = load_settings()
    seed = typed_site(url, by_proxy=settings.proxy_url is not None)
    urls = read_urls(urls_file) if urls_file else ()
    headers = read_headers(header, header_env)
    check_origin(seed, urls, headers)
    order = Order(
        seed=seed,
        project=name_after(seed.href) if project is None else checked_name(project),
        config=checked_config(given, settings.max_pages_ceiling),
        urls=urls,
        urls_file=urls_file,
        headers=headers,
        export_to=export,
        formats=read_formats(export, formats),
        named_by_url=project is None,
    )
    if export is not None:
        export.check()
    if any(map(shows_value, header)):
        _write(f"{VISIBLE}\n")
    fetchers = workers or settings.fetch_concurrency or os.cpu_count() or 1
    renders = given["render"] is not RenderMode.NEVER
    with ExitStack() as begun:
        with interrupted_afterwards():
            begun.enter_context(_starting())
            begun.enter_context(servers_begun(settings))
            import_workers()  # while the servers start
            watch_crawl = watching.watch_crawl
        return watch_crawl(order, fetchers, render=renders, as_json=as_json)


@contextmanager
def _starting() -> Iterator[None]:
    """Show "Starting …" until there is more to show. The next output overwrites it."""
    redraws = sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    try:
        if redraws:
            _write("Starting …\r")
        yield
    except BaseException:
        if redraws:
            with suppress(BrokenPipeError):  # stderr is closed: the error itself matters more
                _write(ERASE)  # no other output may follow that would overwrite it
        raise


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
