"""Texts for each reason of a skipped or failed URL: what it means and what to do. For terminal, API and dashboard."""

from crawler.domain.reasons import Reason

MEANINGS: dict[Reason, str] = {
    # skipped
    Reason.ROBOTS: (
        "The host's robots.txt forbids it; ask its owner for permission, or crawl with --ignore-robots if it is yours."
    ),
    Reason.ROBOTS_UNREACHABLE: (
        "The host's robots.txt could not be read for as long as the crawl waits, so nothing was asked of it; crawl "
        "again when it answers."
    ),
    Reason.EXCLUDED: "An exclude pattern matches it; change that pattern to crawl it.",
    Reason.NOT_INCLUDED: (
        "No include pattern matches it; add one, or crawl such URLs after the others with --include-mode prefer."
    ),
    Reason.OFF_DOMAIN: (
        "It lies outside the crawl's scope; widen that with allowed_hosts, allow_subdomains or another path_prefix."
    ),
    Reason.MAX_DEPTH: "It is more links away from the seed than the crawl may follow; raise --depth to reach it.",
    Reason.MAX_PAGES: "The crawl had all the pages it may store before its turn came; raise --max-pages to reach it.",
    Reason.SCHEME: "It is no web address; only http and https are crawled.",
    Reason.TOO_LONG: "It has more than 2,000 characters; nothing can be done about that but a shorter address.",
    Reason.EGRESS: (
        "Its address is not public; if it should be reached, start 'crawler up' or workers with its host:port added to "
        "CRAWLER_EGRESS_ALLOW."
    ),
    Reason.TRAP: (
        "It looks like one of a row without end; if it is a real page, fetch it by itself from a list of URLs."
    ),
    Reason.HASH_ROUTE: (
        "Scripts show it for the part of the address after the #; the server never hears of it, so it is not crawled."
    ),
    Reason.QUERY_OPEN: (
        "The crawl ended before it knew whether its query parameters tell pages apart; name them in meaningful_params."
    ),
    Reason.NOT_FOUND: "The server has no such page; mend or remove the links that lead to it.",
    Reason.FORBIDDEN: "The server does not let us see it; give the project the credentials it asks for.",
    Reason.CONTENT_TYPE: "It is not a web page but another kind of file; name its type in content_types to keep it.",
    Reason.REDIRECTED: "It redirects to another URL, which stands for itself; explain that one instead.",
    Reason.HOST_BLOCKED: (
        "The crawl's time was over while its host wanted to be left alone; crawl again later, or more slowly."
    ),
    Reason.EXISTS: "It is here already, so it was not fetched again; crawl with refresh to fetch it all the same.",
    Reason.CANCELLED: "The crawl was cancelled before its turn came; start another crawl to fetch it.",
    # failed
    Reason.TIMEOUT: (
        "The server did not answer in time, in any try; crawl again later or raise CRAWLER_HTTP_TIMEOUT_SECONDS."
    ),
    Reason.CONNECT: "No connection came about, or it broke, in each of the tries; check that the server is up.",
    Reason.DNS: "The host's name could not be found; check its spelling and this machine's name servers.",
    Reason.TLS: "The server's certificate or its encryption is not acceptable; have it mended, or name its CA_BUNDLE.",
    Reason.PROTOCOL: "What came was not a proper HTTP answer; look at the server with another client.",
    Reason.TOO_LARGE: "The page is larger than is kept; raise CRAWLER_MAX_BODY_BYTES to store it.",
    Reason.REDIRECT_LOOP: "Its redirects go in circles or never end; mend them on the site.",
    Reason.HTTP_5XX: "The server failed while answering; look into its log, then crawl again.",
    Reason.RATE_LIMITED: (
        "The host answered 429 or 503 five times, or for as long as the crawl waits (patience_seconds); crawl again "
        "later, or with a longer --delay."
    ),
    Reason.POISON: (
        "Each of three workers was lost while it had this page; look into the workers' log before it is tried again."
    ),
    Reason.PARSE: "What came could not be read or stored as a page; look at it with a browser.",
    Reason.LOGIN: "The project's login failed; 'crawler login list' says why, and 'crawler login try' tries it.",
    # notes on stored pages
    Reason.RENDER_UNAVAILABLE: (
        "It is stored as it was fetched, as there was no browser to render it; 'crawler doctor' says how to get one."
    ),
    Reason.RENDER_FAILED: (
        "It is stored as it was fetched, as it could not be rendered; 'crawler explain' says what came of it in the "
        "browser."
    ),
    Reason.RENDER_OFF: (
        "It is stored as it was fetched, as render is 'never'; with 'auto' it is compared with what a browser showed "
        "before."
    ),
    Reason.UNCHANGED: "It is stored, and is what it was when it was stored last; there is nothing to do.",
}


NAMES: dict[Reason, str] = {
    Reason.ROBOTS: "forbidden by robots.txt",
    Reason.ROBOTS_UNREACHABLE: "robots.txt not readable",
    Reason.EXCLUDED: "left out by a pattern",
    Reason.NOT_INCLUDED: "in no include pattern",
    Reason.OFF_DOMAIN: "outside of the site",
    Reason.MAX_DEPTH: "too many links away",
    Reason.MAX_PAGES: "beyond the page limit",
    Reason.SCHEME: "no web address",
    Reason.TOO_LONG: "address too long",
    Reason.EGRESS: "address not allowed",
    Reason.TRAP: "row without end",
    Reason.HASH_ROUTE: "view behind a #",
    Reason.QUERY_OPEN: "parameters not yet known",
    Reason.NOT_FOUND: "not found",
    Reason.FORBIDDEN: "refused by the server",
    Reason.CONTENT_TYPE: "no web page",
    Reason.REDIRECTED: "leads elsewhere",
    Reason.HOST_BLOCKED: "host wanted no more",
    Reason.EXISTS: "here already",
    Reason.CANCELLED: "crawl was cancelled",
    Reason.TIMEOUT: "no answer in time",
    Reason.CONNECT: "no connection",
    Reason.DNS: "host name unknown",
    Reason.TLS: "certificate or encryption",
    Reason.PROTOCOL: "no proper HTTP answer",
    Reason.TOO_LARGE: "page too large",
    Reason.REDIRECT_LOOP: "redirects in circles",
    Reason.HTTP_5XX: "server error (HTTP 5xx)",
    Reason.RATE_LIMITED: "host too busy",
    Reason.POISON: "workers were lost with it",
    Reason.PARSE: "not readable as a page",
    Reason.LOGIN: "login failed",
    Reason.RENDER_UNAVAILABLE: "no browser to render it",
    Reason.RENDER_FAILED: "rendering failed",
    Reason.RENDER_OFF: "not rendered, as asked",
    Reason.UNCHANGED: "unchanged",
}
"""Short names of reasons, for lists of choices."""


def name_of(reason: str) -> str:
    """The short name of a reason, also of one that a newer version of the service wrote."""
    return NAMES[Reason(reason)] if reason in set(Reason) else reason.replace("_", " ")


def meaning(reason: Reason) -> str:
    return MEANINGS[reason]
