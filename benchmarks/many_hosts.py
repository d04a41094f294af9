"""The PostgreSQL manual on many loopback hosts: more pages than fit any cache, and hosts side by side."""

from benchmarks.comparison import OURS, SCRAPY, agreement, attempts, measure, table
from benchmarks.options import Options
from benchmarks.ours import ours
from benchmarks.sites import manual, serve

TITLE = "One manual on 20 hosts"
HOSTS = 20
SCRAPY_PAGES = 3000


def run(options: Options) -> str:
    hosts, pages = options.size(HOSTS, 3), options.size(SCRAPY_PAGES, 200)
    wanted = [name for name in (OURS, SCRAPY) if name in options.crawlers]
    with serve(manual("postgresql", hosts)) as sites, ours() as crawler:
        named = sites.hosts("postgresql")
        tries = attempts(
            crawler, wanted, ("--hosts", ",".join(named), "--pages", str(pages)), allowed_hosts=tuple(named),
            **({"max_pages": 1000} if options.quick else {}),
        )  # fmt: skip
        crawler.warm(sites.portal, allowed_hosts=tuple(named))
        results = [measure(name, tries[name], sites, f"{hosts} hosts", sites.portal) for name in tries]
    ours_only = [result for result in results if result.crawler == OURS]
    return f"""One repeat. One crawl that starts at a page with links to all {hosts} hosts, 32 requests in flight
over all. Scrapy is stopped after {pages:,} pages to save time.

{table(results)}

{agreement(ours_only)}"""
