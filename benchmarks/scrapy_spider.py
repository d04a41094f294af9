"""Scrapy at its best: no delay, 32 requests in flight, everything optional off; writes JSON lines.

Run by the benchmark in an environment of its own: `python scrapy_spider.py URL OUTPUT`.
"""

import sys
from urllib.parse import urlsplit

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor


class Spider(scrapy.Spider):
    name = "bench"

    def __init__(self, url):
        super().__init__()
        self.start_urls = [url]
        self.follow = LinkExtractor(allow_domains=[urlsplit(url).hostname], tags=("a", "area"))

    def parse(self, response):
        if not isinstance(response, scrapy.http.HtmlResponse):
            return
        links = self.follow.extract_links(response)
        yield {
            "url": response.url,
            "status": response.status,
            "title": response.css("title::text").get(),
            "h1": " ".join(response.xpath("(//h1)[1]//text()").getall()),
            "description": response.xpath("//meta[@name='description']/@content").get(),
            "text": " ".join(
                part.strip()
                for part in response.xpath("//body//text()[not(ancestor::script|ancestor::style)]").getall()
            ),
            "links": [{"url": link.url, "anchor": link.text} for link in links],
        }
        for link in links:
            yield scrapy.Request(link.url)


process = CrawlerProcess(
    {
        "CONCURRENT_REQUESTS": 32,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": False,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "RETRY_ENABLED": False,
        "LOG_LEVEL": "ERROR",
        "REFERER_ENABLED": False,
        "FEEDS": {sys.argv[2]: {"format": "jsonlines"}},
    }
)
process.crawl(Spider, url=sys.argv[1])
process.start()
