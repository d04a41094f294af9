"""Screenshots: an image of the whole page, and a thumbnail of its top.

They are stored by `adapters/engine/rendering_commit.py`.

Whether one is taken, and what happens if it fails: `_picture` in `visit.py`.
"""

import asyncio
from io import BytesIO

from PIL import Image
from playwright.async_api import Page

from crawler.domain.rendering.rendered_page import Screenshot

MAX_HEIGHT = 16_000
"""Largest height of a screenshot. Encoders and browsers fail not far beyond."""
THUMBNAIL = (320, 256)
PATIENCE_SECONDS = 6.0
"""A page that cannot be pictured, such as one without a body, is kept without a picture: it must not wait for one."""


async def take_screenshot(page: Page) -> Screenshot:
    """Raises TimeoutError when it takes too long."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        return await _taken(page)


async def _taken(page: Page) -> Screenshot:
    size = await page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
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
