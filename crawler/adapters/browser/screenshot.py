"""Screenshots: an image of the whole page, and a thumbnail of its top.

They are stored by `adapters/engine/rendering_commit.py`.

Whether one is taken, and what happens if it fails: `_picture` in `visit.py`.
"""

import asyncio
from io import BytesIO

from PIL import Image
from playwright.async_api import Page

from crawler.adapters.browser.page_idle import World
from crawler.domain.rendering.rendered_page import Screenshot

MAX_HEIGHT = 16_000
"""Largest height of a screenshot. Encoders and browsers fail not far beyond."""
THUMBNAIL = (320, 256)
_SIZE = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"


async def take_screenshot(page: Page, world: World) -> Screenshot | None:
    """None while the document is being replaced."""
    size = await world.ask(_SIZE)
    if size is None:
        return None
    width = max(1, min(int(size[0]), page.viewport_size["width"] if page.viewport_size else int(size[0])))
    height = max(1, min(int(size[1]), MAX_HEIGHT))
    clip = {"x": 0, "y": 0, "width": width, "height": height}
    image = await page.screenshot(full_page=True, clip=clip, animations="disabled", type="png")  # type: ignore[arg-type]
    return Screenshot(image, await asyncio.to_thread(_thumbnail, image), width, height)


def _thumbnail(image: bytes) -> bytes:
    """A thumbnail of the top of the page, in its full width."""
    with Image.open(BytesIO(image)) as whole:
        width, height = THUMBNAIL
        top = whole.convert("RGB").crop((0, 0, whole.width, min(whole.height, whole.width * height // width)))
    top.thumbnail(THUMBNAIL)
    small = BytesIO()
    top.save(small, "PNG", optimize=True)
    return small.getvalue()
