"""Most bytes of some pages are none that anybody reads: a program with its data, or pictures written into the page."""

import re

MOST_UNSEEN = 20_000
"""Of one script, style or comment. Shorter ones stay: they may hold facts about the page, such as a price as JSON."""
MAX_BYTES = 10_000_000
"""Of a page that is looked through for them."""
_OPENING = re.compile(rb"<(?:!--|(script|style)(?=[\s/>])[^<>]*+>)", re.IGNORECASE).search
_CLOSING = {
    b"script": re.compile(rb"</script(?=[\s/>])", re.IGNORECASE).search,
    b"style": re.compile(rb"</style(?=[\s/>])", re.IGNORECASE).search,
    b"": re.compile(rb"--!?>").search,
}
_PICTURE = re.compile(rb"data:[\w.+/-]{1,100}+;base64,[\w+/=%%-]{%d,}+" % MOST_UNSEEN, re.IGNORECASE)


def without_unseen_weight(page: bytes) -> bytes:
    """The page without its long scripts, styles, comments and pictures. Each step goes forward."""
    kept, at = [], 0
    while opening := _OPENING(page, at):
        closing = _CLOSING[(opening[1] or b"").lower()](page, opening.end())
        end = closing.start() if closing else len(page)
        is_long = end - opening.end() > MOST_UNSEEN
        kept.append(page[at : opening.end() if is_long else end])
        at = end
    kept.append(page[at:])
    return _PICTURE.sub(b"data:,", b"".join(kept))
