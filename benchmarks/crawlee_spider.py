"""crawlee-python at its best settings: HTTP with parsel, 32 requests in flight, queue in memory; writes JSON lines.

Run by the benchmark in an environment of its own: `python crawlee_spider.py URL OUTPUT`.
"""

import json
import logging
import sys
from hashlib import sha256
from pathlib import Path

import uvloop
from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient


async def main() -> None:
    logging.disable(logging.WARNING)
    crawler = ParselCrawler(
        # The same floor as ceiling: its own scaling would take slots away while the machine is busy.
        concurrency_settings=ConcurrencySettings(min_concurrency=32, desired_concurrency=32, max_concurrency=32),
        storage_client=MemoryStorageClient(),
        max_request_retries=0,
        use_session_pool=False,
        retry_on_blocked=False,
        configure_logging=False,
    )
    with Path(sys.argv[2]).open("w") as output:

        @crawler.router.default_handler
        async def handle(context: ParselCrawlingContext) -> None:
            page = context.selector
            texts = page.xpath("//body//text()[not(ancestor::script|ancestor::style)]").getall()
            item = {
                "url": context.request.url,
                "title": page.css("title::text").get(),
                "h1": " ".join(page.xpath("(//h1)[1]//text()").getall()),
                "description": page.xpath("//meta[@name='description']/@content").get(),
                "text": " ".join(text.strip() for text in texts),
                "links": page.css("a::attr(href)").getall(),
            }
            told = "\0".join((item["title"] or "", item["h1"], item["description"] or "", item["text"]))
            output.write(json.dumps({**item, "hash": sha256(told.encode()).hexdigest()}) + "\n")
            await context.enqueue_links()

        await crawler.run([sys.argv[1]])


uvloop.run(main())
