"""Pages that are none: an error, a wall against robots or nothing at all, served as if it were the page."""

import re
from enum import StrEnum

from crawler.domain.page_blocks import PageBlocks

FEWEST_WORDS = 4
MOST_WORDS = 120
"""A page with more to say is about errors or captchas; it is none."""
ALIKE = 0.5
_SURE = re.compile(
    r"verify (?:that )?you(?:'re| are) (?:a )?human|checking (?:if the site connection is secure|your browser)|"
    r"(?:are|you are|that you are) not a robot|are you a robot|unusual traffic|"
    r"enable javascript and cookies to continue|complete the (?:security check|captcha)|"
    r"made us think (?:that )?you (?:are|were|might be) a (?:ro)?bot|error establishing a database connection|"
    r"\bddos protection\b|\b(?:re|h)?captcha\b|just a moment\.\.\.",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"\b(?:50[0234]|429|403)\b|internal server error|service (?:temporarily )?unavailable|bad gateway|"
    r"gateway time-?out|access (?:is )?denied|don't have permission|too many requests|something went wrong|"
    r"unexpected error|(?:down|offline|closed) for (?:scheduled )?maintenance|back (?:soon|shortly)|"
    r"temporarily (?:un|not )available|temporarily unable|try again later|an error (?:has )?occurred|"
    r"attention required|security check|rate limit(?:ed)? exceeded|request blocked|has been blocked",
    re.IGNORECASE,
)
_SHORT = 40
_WHOLE = 20
"""Words of a page that can be missed when it comes up empty."""


class Wall(StrEnum):
    EMPTY = "empty"
    ROBOTS = "wall"
    ERROR = "error"


def find_wall(page: PageBlocks) -> Wall | None:
    """By what a page says alone."""
    # No line is without a word, so most pages need not be counted through.
    words = len(page) if len(page) > MOST_WORDS + 2 else page.words
    if words > MOST_WORDS:
        return None
    text = "\n".join(page.lines)
    if _SURE.search(text):
        return Wall.ROBOTS
    if words <= _SHORT and _ERROR.search(text):
        return Wall.ERROR
    return Wall.EMPTY if words < FEWEST_WORDS else None


def wall_between(old: PageBlocks, new: PageBlocks) -> Wall | None:
    """Why two versions cannot be compared. A page that always looks so is just such a page."""
    before, after = find_wall(old), find_wall(new)
    if before and after and (before == after == Wall.EMPTY or _alike(old, new)):
        return None
    if Wall.EMPTY in {before, after} and max(old.words, new.words) < _WHOLE:
        return None
    return after or before


def _alike(old: PageBlocks, new: PageBlocks) -> bool:
    one, other = set(old.lines), set(new.lines)
    return len(one & other) >= ALIKE * max(len(one), len(other))
