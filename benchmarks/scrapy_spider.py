"""Scrapy at its best settings: no delay, 32 requests in flight, uvloop, everything optional off; writes JSON lines.

Run by the benchmark in an environment of its own: `python scrapy_spider.py URL OUTPUT [--by-hand]`. Usually it reads
pages as Scrapy's documentation teaches, with selectors and a link extractor; `--by-hand` walks lxml's tree instead.
"""

import argparse
from collections.abc import Iterator
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

import scrapy
from lxml import etree
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

SETTINGS = {
    "CONCURRENT_REQUESTS": 32,
    "CONCURRENT_REQUESTS_PER_DOMAIN": 32,
    "DOWNLOAD_DELAY": 0,
    "AUTOTHROTTLE_ENABLED": False,
    "DNSCACHE_ENABLED": True,
    "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
    "ROBOTSTXT_OBEY": False,
    "COOKIES_ENABLED": False,
    "RETRY_ENABLED": False,
    "REDIRECT_ENABLED": False,
    "REFERER_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "MEMUSAGE_ENABLED": False,
    "EXTENSIONS": {"scrapy.extensions.logstats.LogStats": None},
    "LOG_LEVEL": "ERROR",
}


class Spider(scrapy.Spider):
    name = "bench"

    def __init__(self, url: str, hosts: list[str], by_hand: bool) -> None:
        super().__init__()
        self.start_urls = [url]
        self.hosts = {urlsplit(url).netloc, *hosts}
        self.follow = LinkExtractor(allow_domains=list(self.hosts), tags=("a", "area"))
        self.read = self.read_by_hand if by_hand else self.read_as_taught

    def parse(self, response: scrapy.http.Response) -> Iterator[dict[str, Any] | scrapy.Request]:
        if not isinstance(response, scrapy.http.HtmlResponse):
            return
        item, links = self.read(response)
        told = "\0".join((item["title"] or "", item["h1"], item["description"] or "", item["text"]))
        yield {"url": response.url, "status": response.status, **item, "hash": sha256(told.encode()).hexdigest()}
        for link in links:
            yield scrapy.Request(link)

    def read_as_taught(self, response: scrapy.http.HtmlResponse) -> tuple[dict[str, Any], list[str]]:
        links = self.follow.extract_links(response)
        texts = response.xpath("//body//text()[not(ancestor::script|ancestor::style)]").getall()
        return {
            "title": response.css("title::text").get(),
            "h1": " ".join(response.xpath("(//h1)[1]//text()").getall()),
            "description": response.xpath("//meta[@name='description']/@content").get(),
            "text": " ".join(text.strip() for text in texts),
            "links": [{"url": link.url, "anchor": link.text} for link in links],
        }, [link.url for link in links]

    def read_by_hand(self, response: scrapy.http.HtmlResponse) -> tuple[dict[str, Any], list[str]]:
        root = response.selector.root
        links: dict[str, str] = {}
        for node in root.iter("a", "area"):
            href = (node.get("href") or "").partition("#")[0]
            if href:
                links.setdefault(href, "".join(node.itertext()))
        found = [(response.urljoin(href), anchor) for href, anchor in links.items()]
        heading = next(root.iter("h1"), None)
        body = root.find("body")
        if body is not None:
            etree.strip_elements(body, "script", "style", with_tail=False)
        return {
            "title": root.findtext(".//title"),
            "h1": " ".join("".join(heading.itertext()).split()) if heading is not None else "",
            "description": next((m.get("content") for m in root.iter("meta") if m.get("name") == "description"), None),
            "text": " ".join(" ".join(body.itertext(tag=etree.Element)).split()) if body is not None else "",
            "links": [{"url": url, "anchor": anchor} for url, anchor in found],
        }, [url for url, _ in found if urlsplit(url).netloc in self.hosts]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("url")
    options.add_argument("output")
    options.add_argument("--hosts", default="", help="further hosts to follow links to, separated by commas")
    options.add_argument("--pages", type=int, default=0, help="stop after so many pages; 0 is never")
    options.add_argument("--by-hand", action="store_true")
    given = options.parse_args()
    feeds = {given.output: {"format": "jsonlines"}}
    process = CrawlerProcess({**SETTINGS, "FEEDS": feeds, "CLOSESPIDER_PAGECOUNT": given.pages})
    process.crawl(Spider, url=given.url, hosts=[host for host in given.hosts.split(",") if host], by_hand=given.by_hand)
    process.start()


main()
