"""Both manuals: us, the bare loop and the peers, one after the other, several times."""

from benchmarks.comparison import agreement, attempts, measure, table
from benchmarks.machine import pinned
from benchmarks.options import Options
from benchmarks.ours import ours
from benchmarks.sites import manual, serve

TITLE = "Two manuals, side by side"


def run(options: Options) -> str:
    results = []
    config = {"max_pages": 200} if options.quick else {}
    scrapy = ("--pages", "200") if options.quick else ()
    with serve(*(manual(site) for site in options.sites)) as sites, ours() as crawler:
        tries = attempts(crawler, options.crawlers, scrapy, **config)
        for site in options.sites:
            crawler.warm(sites.url(site))
            for _ in range(options.repeats):
                results += [measure(name, tries[name], sites, site, sites.url(site)) for name in tries]
    return f"""Medians of {options.repeats} repeats, one crawler after the other in one run; our workers are stopped
while others run.

{table(results)}

{agreement(results)}

Everybody: no delay, 32 requests in flight, title, h1, description, text, links and a content hash of each page. Ours
also: language, a compressed snapshot, robots.txt, the ledger, and one commit a batch; one fetch process per core. The
bare loop is our fetcher and extraction with one insert a batch and nothing that could be resumed, in two processes.
Peers: {pinned()}.
Theirs is one process with uvloop, no robots.txt, cookies, retries, redirects, logs or telnet, the queue in memory,
results in JSON lines; their CPU includes their start (under a second).
"scrapy" reads pages with its selectors and link extractor, as its documentation teaches; "scrapy-by-hand" walks lxml's
tree and drops fragments before it makes requests."""
