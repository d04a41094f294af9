"""Crawl a site and write its broken links to a file: `python link_report.py PROJECT_ID links.csv`, nightly by cron:

    0 3 * * *  CRAWLER_API_URL=… CRAWLER_API_KEY=… python link_report.py PROJECT_ID /var/www/links.csv

The file appears whole or not at all. The exit status is 1 if the crawl before did not have one of them.
"""

import csv
import os
import sys
from pathlib import Path

from crawler.client import Client

project, file = sys.argv[1], Path(sys.argv[2])
with Client(os.environ["CRAWLER_API_URL"], key=os.environ["CRAWLER_API_KEY"]) as client:
    crawl = client.wait(client.crawls.start(project))
    if crawl.status != "completed":
        sys.exit(f"The crawl ended as {crawl.status}: {crawl.error_message}")
    links = list(client.reports.findings(crawl.id, "broken_link"))

part = file.with_suffix(".part")
with part.open("w", newline="") as out:
    table = csv.writer(out)
    table.writerow(["url", "problem", "new", "on"])
    for link in links:
        table.writerow([link.url, link.problem, link.is_new, " ".join(page.url for page in link.related)])
part.replace(file)
sys.stdout.write(f"{len(links)} broken links in {file}\n")
sys.exit(any(link.is_new for link in links))
