"""Whether a page went through a browser and why, as a sentence."""

from collections.abc import Mapping
from typing import Any

from crawler.domain.crawls.crawl import CrawlJob
from crawler.domain.engine.ledger import IN_PART, RENDERED
from crawler.domain.explaining.url_explanation import LedgerUrl, StoredPage
from crawler.domain.reasons import Reason
from crawler.domain.rendering.signals import FAILED, LIGHT, Decision, Signal, decide_crawl, failed_words


def rendering_words(row: LedgerUrl, crawl: CrawlJob, stored: StoredPage | None) -> str | None:
    """The page's own decision if it has one, else its crawl's."""
    if stored is None or stored.crawl_method is None:
        return None
    record = row.rendering or {}
    own = Decision.from_record(record) if "render" in record else None
    words = _how(row, crawl, own, rendered=stored.crawl_method == RENDERED)
    part = "; a table or list on it is longer than what is read of one" if record.get(IN_PART) else ""
    return words + _comparison(record.get("compared")) + part


def _how(row: LedgerUrl, crawl: CrawlJob, own: Decision | None, *, rendered: bool) -> str:
    """`own`: the decision for this page alone; None where its crawl's decision held."""
    site = decide_crawl(crawl)
    if own and own.signal is Signal.RENDER_FAILED:
        return f"without a browser, as {own.words}"
    if row.reason == Reason.RENDER_FAILED:
        how = failed_words(str((crawl.rendering or {}).get(FAILED, "")))
        return f"without a browser, which {how} on the homepage: {(own or site or LIGHT).words}"
    if row.reason == Reason.RENDER_UNAVAILABLE:
        return f"without a browser, as none was there: {(own or site or LIGHT).words}"
    if rendered:
        return f"in a browser: {own.words if own else _site_words(site)}"
    return f"without a browser: {own.words if own else LIGHT.words}"


def _comparison(compared: Mapping[str, Any] | None) -> str:
    """How much of a page the server alone sent, if it was fetched both ways."""
    if not compared:
        return ""
    alike = "said the same" if compared["agrees"] else "said less"
    return f"; the server alone {alike} ({compared['words']:.0%} of the words, {compared['links']:.0%} of the links)"


def _site_words(site: Decision | None) -> str:
    if site is None or site.signal is Signal.ASKED:
        return site.words if site else "it was asked for"
    return f"the homepage needs one, as {site.words}"
