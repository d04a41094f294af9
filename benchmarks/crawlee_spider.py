"""crawlee-python at its best: HTTP with parsel, 32 requests in flight; writes its dataset.

Run by the benchmark in an environment of its own: `python crawlee_spider.py URL OUTPUT`.
"""

import asyncio
import sys

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext


async def main() -> None:
    crawler = ParselCrawler(
        concurrency_settings=ConcurrencySettings(min_concurrency=8, desired_concurrency=32, max_concurrency=32),
        max_requests_per_crawl=None,
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def handle(context: ParselCrawlingContext) -> None:
        page = context.selector
        await context.push_data(
            {
                "url": context.request.url,
                "title": page.css("title::text").get(),
                "h1": " ".join(page.xpath("(//h1)[1]//text()").getall()),
                "description": page.xpath("//meta[@name='description']/@content").get(),
                "text": " ".join(
                    part.strip()
                    for part in page.xpath("//body//text()[not(ancestor::script|ancestor::style)]").getall()
                ),
                "links": page.css("a::attr(href)").getall(),
            }
        )
        await context.enqueue_links()

    await crawler.run([sys.argv[1]])
    await crawler.export_data(sys.argv[2])


asyncio.run(main())
