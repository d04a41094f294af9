"""Pages that are none: an error, a wall against robots or nothing at all, served as if it were the page.

Words alone are no evidence, as any page may speak of errors and captchas: a wall stands *in place* of the page. What
keeps its title, or half of its lines, is the page.

Sign-in pages are walls, too. One text in place of many pages: `changes/shared_walls.py`. Redirects of many pages to one
place: `changes/shared_redirects.py` and `changes/removals.py`. What broken programs print: `program_errors.py`.
"""

import re
from enum import StrEnum

from crawler.domain.diffs.maintenance_phrases import names_maintenance, says_maintenance
from crawler.domain.diffs.page_blocks import PageBlocks
from crawler.domain.diffs.page_heads import headings, page_words, title_parts
from crawler.domain.diffs.program_errors import is_program_error
from crawler.domain.diffs.soft_not_found import is_not_found

FEWEST_WORDS = 4
MOST_WORDS = 120
"""A page with more to say is about errors or captchas; it is none."""
ALIKE = 0.5
"""The share of a page's lines that must stay for it to be the same page."""
SAME_TITLE = 0.6
"""The share of a title's words that must stay for it to be the same title."""
_SURE = re.compile(
    r"verify (?:that )?you(?:'re| are) (?:a )?human|checking (?:if the site connection is secure|your browser)|"
    r"(?:are|you are|that you are) not a robot|are you a robot|unusual traffic (?:coming )?from your|"
    r"enable javascript and cookies to continue|complete the (?:security check|captcha)|"
    r"made us think (?:that )?you (?:are|were|might be) a (?:ro)?bot|error establishing a database connection|"
    r"\bddos protection\b|just a moment\.\.\.",
    re.IGNORECASE,
)
_ERROR = re.compile(
    r"internal server error|service (?:temporarily )?unavailable|bad gateway|"
    r"gateway time-?out|access (?:is )?denied|don't have permission|too many requests|something went wrong|"
    r"unexpected error|(?:down|offline|closed) for (?:scheduled )?maintenance|be (?:right )?back (?:soon|shortly)|"
    r"temporarily (?:un|not )available|temporarily unable|try again later|an error (?:has )?occurred|"
    r"attention required|security check|rate limit(?:ed)? exceeded|request (?:has been |was )?blocked",
    re.IGNORECASE,
)
# One text in place of many pages is a wall if it asks who is there; else it may be what its author says of all of them.
_ASKS = re.compile(
    r"\b(?:sign|log)(?:ged)?[ -]?(?:in|on)\b|\blogin\b|password|cookies|\bconsent\b|captcha|not a robot|"
    r"enable javascript|(?:subscribe|register|create an account) to (?:read|continue|see|view)|"
    r"session (?:has )?(?:expired|timed out)|are you (?:over|at least|of legal)|verify (?:your|that you)|"
    r"anmelden|einloggen|passwort|se connecter|iniciar sesión|accedi\b",
    re.IGNORECASE,
)
# A page of this kind has such words for what it is about.
_STATUS = re.compile(r"\b(?:status|uptime|incidents?|health)\b", re.IGNORECASE)
_WAITING = re.compile(r"(?:loading|please wait|redirecting|one moment)\b", re.IGNORECASE)
_SHORT = 40
_FEW = 12
"""Words of a page that has a title and hardly anything below it."""
_BRIEF = 8
"""Words of the line that says so; a longer one is prose."""
_SENTENCE = 5
"""Words of a line that is no entry of a menu."""
_LOWEST_HEADING = 3
_WHOLE = 20
"""Words of a page that can be missed when it comes up empty."""
_TITLE_WORDS = re.compile(r"\w{2,}")


class Wall(StrEnum):
    EMPTY = "empty"
    ROBOTS = "wall"
    ERROR = "error"
    SIGN_IN = "sign_in"
    """A field for a password in place of the page (`shared_walls`)."""
    SAME = "same_page"
    """One text in place of many pages that had texts of their own (`shared_walls`)."""


def find_wall(page: PageBlocks) -> Wall | None:
    """What a page may be by its words, if it stands in place of another."""
    # No line is without a word, so most pages need not be counted through.
    words = len(page) if len(page) > MOST_WORDS + 2 else page.words
    if words > MOST_WORDS:
        return None
    text = "\n".join(page.lines)
    if _SURE.search(text):
        return Wall.ROBOTS
    if words <= _SHORT and any(line.count(" ") < _BRIEF and _ERROR.search(line) for line in page.lines):
        return Wall.ERROR
    return Wall.EMPTY if words < FEWEST_WORDS else None


def wall_between(old: PageBlocks, new: PageBlocks) -> Wall | None:
    """Why two versions cannot be compared."""
    after, before = _wall_instead(new, old), _wall_instead(old, new)
    if (after or before) is None or lines_kept(old, new):
        return None
    stands = _stands_in(after, new, old) or _stands_at_an_end(after, new, old)
    return (after if stands else None) or (before if _stands_in(before, old, new) else None)


def is_walled(page: PageBlocks, other: PageBlocks) -> bool:
    """Whether the wall is this one of the two versions."""
    wall = _wall_instead(page, other)
    return not lines_kept(page, other) and (_stands_in(wall, page, other) or _stands_at_an_end(wall, page, other))


def _wall_instead(page: PageBlocks, other: PageBlocks) -> Wall | None:
    wall = find_wall(page)
    if wall in (None, Wall.EMPTY) and _says_surely(page, other):
        return Wall.ERROR
    return wall or (Wall.EMPTY if _waits(page, other) else None)


def _says_surely(page: PageBlocks, other: PageBlocks) -> bool:
    """Whether a page says in place of all sentences of the other that its program broke, or that the site is being
    worked on: nobody writes that there."""
    if page.is_file:
        return False
    both = set(page.body) & set(other.body)
    if _sentences(page, other):
        return False
    return is_program_error([line for line in page.body if line not in both]) or (not both and _is_closed(page))


def _sentences(page: PageBlocks, other: PageBlocks) -> set[str]:
    """Lines of both that are no entries of a menu."""
    return {line for line in set(page.body) & set(other.body) if line.count(" ") + 1 >= _SENTENCE}


def _is_closed(page: PageBlocks) -> bool:
    """Whether a page says hardly more than that the site is being worked on, in its title or a heading."""
    if len(page.body) > _SHORT or (words := page_words(page)) > _SHORT:
        return False
    heads = [*title_parts(page), *headings(page, _LOWEST_HEADING)]
    return any(map(says_maintenance, heads)) or (words < _FEW and any(map(names_maintenance, heads)))


def _waits(page: PageBlocks, other: PageBlocks) -> bool:
    """Whether all that a page says inside the frame that both have is that it is not there yet."""
    here, there = set(page.body), set(other.body)
    own, lost = here - there, there - here
    return (
        any(map(_WAITING.match, own))
        and sum(line.count(" ") + 1 for line in own) < FEWEST_WORDS
        and sum(line.count(" ") + 1 for line in lost) >= _WHOLE
    )


def _stands_in(wall: Wall | None, page: PageBlocks, other: PageBlocks) -> bool:
    if wall is None:
        return False
    if wall is Wall.EMPTY:
        # A shell that waits for its script has the page's title; an author who wrote two words has it, too.
        is_bare = page.words == 0 or _WAITING.search(" ".join(page.body)) is not None
        return other.words >= _WHOLE and (is_bare or not _title_kept(page, other))
    if wall is Wall.ERROR and all(_STATUS.search(one.title) for one in (page, other)):
        return False
    # Nobody writes this in place of all that a page said; some walls bear the title of what is behind them.
    if other.words >= _WHOLE:
        if wall is Wall.ROBOTS and not set(page.body) & set(other.body):
            return True
        if wall is Wall.ERROR and _says_surely(page, other) and not _says_surely(other, page):
            return True
        if wall is Wall.ERROR and not _sentences(page, other) and _is_less(page.title, other.title):
            return True
    return not _title_kept(page, other)


def _stands_at_an_end(wall: Wall | None, page: PageBlocks, before: PageBlocks) -> bool:
    """Whether an error or nothing came after the page was gone: that brings nothing back."""
    return wall in (Wall.ERROR, Wall.EMPTY) and is_not_found(before) and not is_not_found(page)


def asks_who(page: PageBlocks, other: PageBlocks) -> bool:
    """Whether a page asks who is there, in lines that the other has not: a sign-in page, a question about cookies."""
    own = set(page.lines) - set(other.lines)
    return sum(line.count(" ") + 1 for line in own) <= MOST_WORDS and any(map(_ASKS.search, own))


def lines_kept(old: PageBlocks, new: PageBlocks) -> bool:
    """Whether half of what is said is said by both; a frame around something else is not."""
    one, other = set(old.body), set(new.body)
    return bool(one & other) and len(one & other) >= ALIKE * max(len(one), len(other))


def _is_less(title: str, other: str) -> bool:
    """Whether a title is a part of the other: the name of the site, without that of the page."""
    here, there = (set(_TITLE_WORDS.findall(one.lower())) for one in (title, other))
    return here < there


def _title_kept(one: PageBlocks, other: PageBlocks) -> bool:
    """Whether the title stayed, but for a word or two. The site's name alone, which walls have, too, is not enough."""
    here, there = (set(_TITLE_WORDS.findall(page.title.lower())) for page in (one, other))
    both = here & there
    return bool(both) and (both in (here, there) or len(both) >= SAME_TITLE * max(len(here), len(there)))
