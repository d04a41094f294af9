"""Whether a crawl's changes were told, why not, and whether they can be sent now."""

from typing import Any

from crawler.bootstrap import App
from crawler.domain.crawls.crawl import CrawlJob


def notice_of(tools: App, crawl: CrawlJob) -> dict[str, Any]:
    notice = tools.notices.explain(crawl)
    can_send = not notice.told and not notice.is_coming and tools.notices.tell_crawl.why_not(crawl.id) is None
    return {"notice": notice, "can_send": can_send}
