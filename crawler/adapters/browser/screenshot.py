"""A picture of a whole page and a small one of its top."""

import asyncio
from io import BytesIO

from PIL import Image
from playwright.async_api import Page

from crawler.domain.rendering.rendered_page import Screenshot

MAX_HEIGHT = 16_000
"""Pages without end are cut here; encoders and browsers give up not far beyond."""
THUMBNAIL = (320, 256)


async def take_screenshot(page: Page) -> Screenshot:
    size = await page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    width = max(1, min(int(size[0]), page.viewport_size["width"] if page.viewport_size else int(size[0])))
    height = max(1, min(int(size[1]), MAX_HEIGHT))
    clip = {"x": 0, "y": 0, "width": width, "height": height}
    image = await page.screenshot(full_page=True, clip=clip, animations="disabled", type="png")  # type: ignore[arg-type]
    return Screenshot(image, await asyncio.to_thread(_thumbnail, image), width, height)


def _thumbnail(image: bytes) -> bytes:
    """The top of the page, as wide as it is."""
    with Image.open(BytesIO(image)) as whole:
        width, height = THUMBNAIL
        top = whole.convert("RGB").crop((0, 0, whole.width, min(whole.height, whole.width * height // width)))
    top.thumbnail(THUMBNAIL)
    small = BytesIO()
    top.save(small, "PNG", optimize=True)
    return small.getvalue()
