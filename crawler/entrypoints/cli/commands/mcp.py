"""`crawler mcp`: tools for agents over standard input and output.

The tools are in `entrypoints/mcp/server.py`.
"""

from typing import TYPE_CHECKING

from crawler.lazy_module import LazyModule

if TYPE_CHECKING:
    from crawler.entrypoints.cli.actions import mcp as serving
else:
    serving = LazyModule("crawler.entrypoints.cli.actions.mcp")


def mcp() -> None:
    """Serve agents (Model Context Protocol) on standard input and output, through the service of CRAWLER_API_URL or
    `crawler up` on this machine."""
    serving.serve()
