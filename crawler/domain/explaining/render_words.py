"""Whether a page went through a browser and why, as a sentence."""

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.engine.ledger import RENDERED
from crawler.domain.explaining.url_explanation import LedgerUrl, StoredPage
from crawler.domain.reasons import Reason
from crawler.domain.rendering.signals import FAILED, LIGHT, Decision, Signal, decide_crawl, failed_words


def rendering_words(row: LedgerUrl, crawl: CrawlJob, stored: StoredPage | None) -> str | None:
    """The page's own decision if it has one, else its crawl's."""
    if stored is None or stored.crawl_method is None:
        return None
    rendered, record = stored.crawl_method == RENDERED, row.rendering or {}
    own = Decision.from_record(record) if "render" in record else None
    site = decide_crawl(crawl)
    if own and own.signal is Signal.RENDER_FAILED:
        told = f"without a browser, as {own.words}"
    elif row.reason == Reason.RENDER_FAILED:
        how = failed_words(str((crawl.rendering or {}).get(FAILED, "")))
        told = f"without a browser, which {how} on the homepage: {(own or site or LIGHT).words}"
    elif row.reason == Reason.RENDER_UNAVAILABLE:
        told = f"without a browser, as none was there: {(own or site or LIGHT).words}"
    elif rendered:
        told = f"in a browser: {own.words if own else _site_words(site)}"
    else:
        told = f"without a browser: {own.words if own else LIGHT.words}"
    if compared := record.get("compared"):
        alike = "said the same" if compared["agrees"] else "said less"
        told += (
            f"; the server alone {alike} ({compared['words']:.0%} of the words, {compared['links']:.0%} of the links)"
        )
    return told


def _site_words(site: Decision | None) -> str:
    if site is None or site.signal is Signal.ASKED:
        return site.words if site else "it was asked for"
    return f"the homepage needs one, as {site.words}"
