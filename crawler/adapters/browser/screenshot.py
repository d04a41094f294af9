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
MAX_BYTES = 10_000_000
"""Of an image; of one that would be larger only the top is taken. Pages of all projects are written together."""
THUMBNAIL = (320, 256)
PATIENCE_SECONDS = 6.0
"""A page that cannot be pictured, such as one without a body, is kept without a picture: it must not wait for one."""
_LESS = 0.8
"""The top of a page may be more colourful than the rest."""
_SIZE = "[document.documentElement.scrollWidth, document.documentElement.scrollHeight]"


async def take_screenshot(page: Page, world: World) -> Screenshot | None:
    """None while the document is being replaced, or if even its top is too large.

    Raises TimeoutError when it takes too long.
    """
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await _taken(page, world)


async def _taken(page: Page, world: World) -> Screenshot | None:
    size = await world.ask(_SIZE)
    if size is None:
        return None
    width = max(1, min(int(size[0]), page.viewport_size["width"] if page.viewport_size else int(size[0])))
    height = max(1, min(int(size[1]), MAX_HEIGHT))
    image = await _image(page, width, height)
    if len(image) > MAX_BYTES:
        height = max(1, int(_LESS * height * MAX_BYTES / len(image)))
        image = await _image(page, width, height)
    if len(image) > MAX_BYTES:
        return None
    return Screenshot(image, await asyncio.to_thread(_thumbnail, image), width, height)


async def _image(page: Page, width: int, height: int) -> bytes:
    clip = {"x": 0, "y": 0, "width": width, "height": height}
    return await page.screenshot(full_page=True, clip=clip, animations="disabled", type="png")  # type: ignore[arg-type]


def _thumbnail(image: bytes) -> bytes:
    """A thumbnail of the top of the page, in its full width."""
    with Image.open(BytesIO(image)) as whole:
        width, height = THUMBNAIL
        top = whole.convert("RGB").crop((0, 0, whole.width, min(whole.height, whole.width * height // width)))
    top.thumbnail(THUMBNAIL)
    small = BytesIO()
    top.save(small, "PNG", optimize=True)
    return small.getvalue()
