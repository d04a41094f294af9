"""`python -m crawler.demo [options of crawler run]`: crawl the demo site, edit it, crawl it again, show the changes."""

import signal
import subprocess
import sys
from pathlib import Path

from crawler.demo.site import DemoSite

PORT = 8808
"""A fixed port, so that the project is found again when the demo is repeated."""


def main(options: list[str]) -> int:
    with _serve() as site:
        _say(f"A small demo site is at {site.url}, as it was at first. First crawl:")
        status = _crawl(site.url, options)
        if status == 0:
            site.edit()
            _say("Now one page was changed, one added and one taken away. Second crawl:")
            status = _crawl(site.url, options)
    if status == 0:
        _say("Now a site of yours: make run URL=https://…")
    return status


def _serve() -> DemoSite:
    try:
        return DemoSite(PORT)
    except OSError:  # the port is in use
        return DemoSite()


def _crawl(url: str, options: list[str]) -> int:
    program = str(Path(sys.executable).with_name("crawler"))
    crawl = subprocess.Popen([program, "run", url, "--delay", "0.1", *options])  # noqa: S603 - our own program
    # Ctrl-C also reaches the crawl, which needs time to stop its servers: only wait for it.
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return crawl.wait()
    finally:
        signal.signal(signal.SIGINT, before)


def _say(sentence: str) -> None:
    sys.stderr.write(f"\n{sentence}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
