"""`python -m tests.site --port 0 --hosts 12 --pages 3000 --seed 7 --log access.log`: serve until stopped.

The first line on standard output names the ports as JSON.
"""

import argparse
import asyncio
from pathlib import Path

from tests.site.graph import Spec
from tests.site.server import serve


def main() -> None:
    defaults = Spec()
    parser = argparse.ArgumentParser(prog="python -m tests.site", description="A site with a known link graph.")
    parser.add_argument("--port", type=int, default=0, help="the same on every address; 0 takes a free one")
    parser.add_argument("--control", type=int, default=0, help="port for orders, on 127.0.0.1")
    parser.add_argument("--log", type=Path, default=Path("/dev/null"), help="access log, appended")
    parser.add_argument("--seed", type=int, default=defaults.seed)
    parser.add_argument("--hosts", type=int, default=defaults.hosts)
    parser.add_argument("--pages", type=int, default=defaults.pages)
    parser.add_argument("--fanout", type=int, default=defaults.fanout)
    parser.add_argument("--odd", type=float, default=defaults.odd, help="share of leaves that are not plain pages")
    parser.add_argument("--orphans", type=int, default=defaults.orphans, help="pages only the sitemap names")
    parser.add_argument("--sitemap", action="store_true")
    parser.add_argument("--version", type=int, default=defaults.version)
    parser.add_argument("--empty", action="store_true", help="no site yet: they are opened by order")
    parser.add_argument("--until-eof", action="store_true", help="stop when standard input ends")
    given = vars(parser.parse_args())
    port, control, log = given.pop("port"), given.pop("control"), given.pop("log")
    until_eof, empty = given.pop("until_eof"), given.pop("empty")
    asyncio.run(serve(control, None if empty else (Spec(**given), port, log), until_eof=until_eof))


if __name__ == "__main__":
    main()
