"""Does a page need a browser? Signals tell, each decision with the signal and the number behind it.

The homepage decides for the whole crawl. On a site that needs no browser a page that looks like an empty shell, or says
that a part of it is still to come, is rendered by itself; on a site that does, some pages are compared with what the
server alone sends (`url_shapes`).
"""

import re
from enum import StrEnum
from typing import Any, NamedTuple, Self

from crawler.domain.crawls.crawl import CrawlConfig, CrawlJob, RenderMode
from crawler.domain.crawls.frontier import Lane
from crawler.domain.crawls.page_steps import are_everywhere, steps_at
from crawler.domain.crawls.render_rule import NEVER_REASONS, NEVER_STATUSES, RenderRule
from crawler.domain.pages.measure import Measure
from crawler.domain.reasons import Reason
from crawler.domain.rendering.site_frame import SiteFrame

UNAVAILABLE = "unavailable"
"""In a crawl's record: it had to do without a browser."""
FAILED = "failed"
"""In a crawl's record: its homepage failed in the browser, and how; without one it could be fetched."""
EMPTY = "empty"
"""What the browser showed: no text and no link."""
FILE = "file"
"""What the browser got: nothing that it shows."""
UNREAD = "unread"
"""Of a page that may say that a part of it is still to come: how was not read yet."""
SCREENSHOTS, WAIT, STEPS = "screenshots", "wait", "steps"
"""What only a browser can do, measured of `Signal.ASKED`."""
KEPT_WORDS = 0.8
FEWEST_LOST = 20
_SYNTAX = re.compile(r"[#*\[\]()!\-_>|`]+")


class Signal(StrEnum):
    SHORT_TEXT = "short_text"
    EMPTY_BODY = "empty_body"
    LOW_RATIO = "low_ratio"
    FRAME_ONLY = "frame_only"
    LOST_TEXT = "lost_text"
    STILL_LOADING = "still_loading"
    FETCH_FAILED = "fetch_failed"
    # not of the page itself
    ASKED = "asked"
    SITE = "site"
    SHAPE = "shape"
    LANE = "lane"
    RENDER_FAILED = "render_failed"


class Decision(NamedTuple):
    """Whether to render, and why. Kept with the page or crawl, and shown by `crawler explain`."""

    render: bool
    signal: Signal | None = None
    measured: float | str | None = None
    """Characters, tags, the share or the sign that was found; of a failed fetch its status or reason."""
    limit: float | None = None
    kept: bool = False
    """The homepage is so near to a limit that it stays with what the last crawl decided."""

    @property
    def words(self) -> str:
        return _kept_words(self) if self.kept else _words(self)

    def as_record(self) -> dict[str, Any]:
        """The decision as JSON; what is not known is left out."""
        record = {"render": self.render, "signal": self.signal, "measured": self.measured, "limit": self.limit}
        record["kept"] = self.kept or None
        return {name: value for name, value in record.items() if value is not None}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        signal = Signal(record["signal"]) if "signal" in record else None
        kept = bool(record.get("kept"))
        return cls(bool(record["render"]), signal, record.get("measured"), record.get("limit"), kept)


BY_STEPS = Decision(render=True, signal=Signal.ASKED, measured=STEPS)
LIGHT = Decision(render=False)


def decide_homepage(measure: Measure, markdown: str, rule: RenderRule, before: bool | None = None) -> Decision:
    """The decision for the whole crawl. What the homepage says is counted in its markdown, without the syntax.

    `before`: whether the project's last crawl was rendered. Only a clear margin changes that: a homepage that is now
    just under and now just over a limit would send the whole site from lane to lane.
    """
    if not measure.has_scripts:
        return LIGHT
    chars = len(plain_text(markdown))
    now = _signals(measure, chars, rule) or _unfilled(measure, rule) or LIGHT
    if before is None or before is now.render:
        return now
    farther = rule.moved(up=before)
    clearly = _signals(measure, chars, farther) or _unfilled(measure, farther) or LIGHT
    if clearly.render is now.render:
        return now
    near = clearly if before else now
    return near._replace(render=before, limit=_limit(rule, near.signal), kept=True)


def decide_page(measure: Measure, rule: RenderRule, text: str = "", frame: SiteFrame | None = None) -> Decision:
    """The decision for any other page of a site that needs no browser. `frame` is what the site's pages repeat."""
    if not measure.has_scripts:
        return LIGHT
    return _signals(measure, measure.text_chars, rule) or _frame_only(measure, rule, text, frame) or LIGHT


def lost_text(measure: Measure, words: int, before: int | None) -> Decision | None:
    """Whether a page has far fewer words than before. If a container is empty now, scripts may bring the others."""
    if not before or not measure.has_scripts or before - words < FEWEST_LOST or words > KEPT_WORDS * before:
        return None
    return Decision(render=True, signal=Signal.LOST_TEXT, measured=words, limit=before)


def still_loading(sign: str) -> Decision:
    """Whether a page with scripts says itself that a part of it is still to come. `sign`: how it does.

    It decides for this page alone, the homepage too: what the others need is told by their own text.
    """
    return Decision(render=True, signal=Signal.STILL_LOADING, measured=sign) if sign else LIGHT


def decide_failure(reason: Reason | None, status: int, rule: RenderRule) -> Decision:
    """Signal 4, of a homepage for which the light fetch has given up. An answer that says no outweighs its body."""
    if status in NEVER_STATUSES:
        return LIGHT
    if status >= 400:
        tried = status in rule.statuses or reason in rule.failures
        return Decision(render=True, signal=Signal.FETCH_FAILED, measured=status) if tried else LIGHT
    if reason in NEVER_REASONS:
        return LIGHT
    return Decision(render=True, signal=Signal.FETCH_FAILED, measured=str(reason)) if reason in rule.failures else LIGHT


def decide_mode(config: CrawlConfig) -> Decision | None:
    """What was asked for; None when that is left to the pages. Only a browser can take a picture."""
    if config.render is not RenderMode.AUTO:
        return Decision(render=config.render is RenderMode.ALWAYS, signal=Signal.ASKED, measured=config.render.value)
    if config.screenshots:
        return Decision(render=True, signal=Signal.ASKED, measured=SCREENSHOTS)
    if config.render_wait_seconds:
        return Decision(render=True, signal=Signal.ASKED, measured=WAIT)
    return BY_STEPS if are_everywhere(config.page_steps) else None


def decide_steps(config: CrawlConfig, url: str) -> Decision | None:
    """Whether a page is rendered because of its own steps before reading."""
    return BY_STEPS if config.render is not RenderMode.NEVER and steps_at(config.page_steps, url) else None


def decide_crawl(crawl: CrawlJob) -> Decision | None:
    """The decision for the whole crawl: what was asked for, else what its homepage said; None before that."""
    asked = decide_mode(crawl.config)
    return asked or (Decision.from_record(crawl.rendering) if crawl.rendering and "render" in crawl.rendering else None)


def lacks_browser(crawl: CrawlJob) -> bool:
    """Whether nobody was there to render its pages: from then on they are stored as the server sends them."""
    return bool(crawl.rendering and crawl.rendering.get(UNAVAILABLE))


def note_without_browser(crawl: CrawlJob) -> Reason:
    """On pages that would have needed one."""
    return Reason.RENDER_FAILED if crawl.rendering and FAILED in crawl.rendering else Reason.RENDER_UNAVAILABLE


def lane_of(crawl: CrawlJob) -> Lane:
    """The lane in which a crawl's pages wait."""
    decision = decide_crawl(crawl)
    return Lane.BROWSER if decision is not None and decision.render and not lacks_browser(crawl) else Lane.HTTP


def lanes_of(crawl: CrawlJob) -> list[Lane]:
    """The lanes in which something of a crawl may wait: sitemaps and probes are fetched without a browser."""
    return list(dict.fromkeys((Lane.HTTP, lane_of(crawl))))


def misses_browser(crawl: CrawlJob) -> bool:
    """Whether its pages need a browser and there is none: then all that servers send may look alike."""
    decision = decide_crawl(crawl)
    return decision is not None and decision.render and lacks_browser(crawl)


def plain_text(markdown: str) -> str:
    """Markdown without `# * [ ] ( ) ! - _ > |` and backticks, and without white space around it."""
    return _SYNTAX.sub("", markdown).strip()


def _signals(measure: Measure, text: int, rule: RenderRule) -> Decision | None:
    """The first signal that says so decides. This runs for every page: three comparisons."""
    if text < rule.min_text_chars:
        return Decision(True, Signal.SHORT_TEXT, text, rule.min_text_chars)  # noqa: FBT003
    if measure.has_bundle and measure.content_tags < rule.min_content_tags:
        return Decision(True, Signal.EMPTY_BODY, measure.content_tags, rule.min_content_tags)  # noqa: FBT003
    share = max(text, measure.text_chars) / measure.html_chars if measure.html_chars else 1.0
    if share < rule.min_text_ratio:
        return Decision(True, Signal.LOW_RATIO, round(share, 4), rule.min_text_ratio)  # noqa: FBT003
    return None


def _frame_only(measure: Measure, rule: RenderRule, text: str, frame: SiteFrame | None) -> Decision | None:
    """Whether the server sends the frame of a page and leaves its content to scripts.

    A short article is no frame: without an empty container half of the text that other signals ask for is enough.
    """
    limit = rule.min_text_chars if measure.has_hole else rule.min_text_chars // 2
    own = measure.main_chars
    if own >= limit and frame is not None:
        own = min(own, frame.own_chars(text, limit))
        if own < limit and not measure.has_hole and frame.has_homepage(text):
            return None
    return Decision(True, Signal.FRAME_ONLY, own, limit) if own < limit else _unfilled(measure, rule)  # noqa: FBT003


def _unfilled(measure: Measure, rule: RenderRule) -> Decision | None:
    """Whether there is an empty container, and hardly a word beside links."""
    limit = rule.min_text_chars // 2
    if measure.has_hole and measure.plain_chars < limit:
        return Decision(True, Signal.FRAME_ONLY, measure.plain_chars, limit)  # noqa: FBT003
    return None


def _limit(rule: RenderRule, signal: Signal | None) -> float:
    limits = {
        Signal.SHORT_TEXT: rule.min_text_chars,
        Signal.EMPTY_BODY: rule.min_content_tags,
        Signal.FRAME_ONLY: rule.min_text_chars // 2,
    }
    return limits.get(signal, rule.min_text_ratio) if signal else rule.min_text_ratio


def _kept_words(decision: Decision) -> str:
    measured, limit = decision.measured, f"{decision.limit:g}"
    match decision.signal:
        case Signal.SHORT_TEXT:
            found = f"it has {measured} characters of text"
        case Signal.EMPTY_BODY:
            found = f"its body has {measured} content tags"
        case Signal.FRAME_ONLY:
            found = f"beside what frames it, it has {measured} characters of text"
        case _:
            found, limit = f"{float(measured or 0):.1%} of its markup is text", f"{float(decision.limit or 0):.0%}"
    return f"{found}, too near to {limit} to change what the last crawl decided"


_ASKED_WORDS = {
    SCREENSHOTS: "screenshots are asked for",
    WAIT: "a wait in the browser is asked for",
    STEPS: "steps before reading are asked for",
}
_PLAIN_WORDS = {
    None: "the server sends its text",
    Signal.SITE: "the site's homepage needs a browser",
    Signal.LANE: "it was rendered the last time, and is compared with that once more",
}


def _words(decision: Decision) -> str:
    measured, limit = decision.measured, decision.limit
    match decision.signal:
        case Signal.FETCH_FAILED:
            return f"the light fetch failed ({measured})"
        case Signal.ASKED:
            return _ASKED_WORDS.get(str(measured), f"render is set to {measured}")
        case Signal.SHAPE:
            return f"pages of its kind ({measured}) say the same without a browser"
        case Signal.RENDER_FAILED:
            return f"the browser {failed_words(str(measured))}"
        case None | Signal.SITE | Signal.LANE:
            return _PLAIN_WORDS[decision.signal]
        case signal:
            return _words_of_page(signal, measured, limit)


def _words_of_page(signal: Signal, measured: float | str | None, limit: float | None) -> str:
    match signal:
        case Signal.LOST_TEXT:
            return f"the server sends {measured} of the {limit:g} words that it had, and an empty container"
        case Signal.STILL_LOADING:
            return f"it says itself that a part of it is still to come ({measured})"
        case Signal.EMPTY_BODY:
            return f"its body has {measured} content tags, fewer than {limit}, and loads a bundle of scripts"
        case Signal.LOW_RATIO:
            return f"{float(measured or 0):.1%} of its markup is text, less than {float(limit or 0):.0%}"
        case Signal.FRAME_ONLY:
            return f"beside what frames it, it has {measured} characters of text, fewer than {limit}"
        case _:
            return f"it has {measured} characters of text, fewer than {limit}"


def failed_words(what: str) -> str:
    """What became of a page in the browser, by the status or reason that was written down."""
    if what == EMPTY:
        return "showed an empty page"
    if what == FILE:
        return "got a file, not a page"
    return f"was answered {what}" if what.isdigit() else f"failed ({what})"
