"""The PostgreSQL manual over HTTPS."""

from benchmarks.authority import certificate
from benchmarks.comparison import OURS, SCRAPY, agreement, attempts, measure, table
from benchmarks.options import Options
from benchmarks.ours import ours
from benchmarks.sites import manual, serve

TITLE = "Over HTTPS"


def run(options: Options) -> str:
    wanted = [name for name in (OURS, SCRAPY) if name in options.crawlers]
    config = {"max_pages": 200} if options.quick else {}
    scrapy = ("--pages", "200") if options.quick else ()
    results = []
    with (
        certificate(["127.0.0.1"]) as signed,
        serve(manual("postgresql", certificate=signed)) as sites,
        ours(ca_bundle=signed.bundle) as crawler,
    ):
        seed = sites.url("postgresql")
        tries = attempts(crawler, wanted, scrapy, **config)
        crawler.warm(seed)
        for _ in range(options.repeats):
            results += [measure(name, tries[name], sites, "postgresql", seed) for name in tries]
    return f"""Medians of {options.repeats} repeats. The server's certificate is signed by an authority made for this
run, which `CRAWLER_CA_BUNDLE` names; ours verifies it, Scrapy does not by default.

{table(results)}

{agreement(results)}"""
