"""How many of the pages that should have been compared were compared, and why the others were not.

A run that could compare too few of them has not done its work, though it ended well: it counts as failed when notices
are sent (`domain/notices/notice.py`). Pages that are gone, that the rules leave out now, or for which max_pages had no
room, are not missing here: that is news of another kind, or the user's own wish. What was left out by a guess is said.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from crawler.domain.changes.closed_sections import (
    closed_sections,
    common_section,
    path_of,
    sections_of,
    seen_sections,
)
from crawler.domain.changes.comparison import Changes
from crawler.domain.changes.coverage_words import (
    because,
    blind_words,
    given_up_words,
    hash_views_words,
    limited_words,
    no_room_words,
    unlinked_words,
    views_words,
)
from crawler.domain.changes.removals import LostPage, Removal, leads_to
from crawler.domain.changes.sign_ins import BY_NAME, SignIns
from crawler.domain.diffs.walls import Wall
from crawler.domain.reasons import Reason

TOO_FEW = 0.5
"""The share of pages that must be compared."""
FEWEST = 3
"""So many missing pages are no accident, unless nothing at all could be compared."""
MOST_REASONS = 10
CREDENTIALS_EXPIRED = "credentials_expired"
SECTION_CLOSED = "section_closed"
MOST_EXAMPLES = 5


class Cause(StrEnum):
    """Why pages could not be compared. Programs may rely on these names."""

    SIGN_IN = "sign_in"
    """They ask to sign in: by a form, by a redirect to one, or (with credentials) by 401 and 403."""
    ERROR = "error"
    WALL = "wall"
    EMPTY = "empty"
    SAME_PAGE = "same_page"
    REDIRECT = "redirect"
    REFUSED = "refused"
    RATE_LIMITED = "rate_limited"
    SERVER_ERROR = "server_error"
    UNREACHABLE = "unreachable"
    ROBOTS = "robots"
    FETCHED_OTHERWISE = "fetched_otherwise"
    NEEDS_BROWSER = "needs_browser"
    """Their servers send little but a shell for scripts, and no browser ran these."""
    ANOTHER_TYPE = "another_type"
    """They came as a type of file that the crawl does not take."""
    NOT_REACHED = "not_reached"
    FAILED = "failed"


_CLOSES_NOTHING = frozenset({Cause.ROBOTS, Cause.FETCHED_OTHERWISE, Cause.NOT_REACHED})
"""The site's own wish, and what the next crawls make up for. Of all else nobody knows when it ends."""
_BY_REASON = {
    Reason.FORBIDDEN: Cause.REFUSED,
    Reason.RATE_LIMITED: Cause.RATE_LIMITED,
    Reason.HOST_BLOCKED: Cause.RATE_LIMITED,
    Reason.HTTP_5XX: Cause.SERVER_ERROR,
    Reason.TIMEOUT: Cause.UNREACHABLE,
    Reason.CONNECT: Cause.UNREACHABLE,
    Reason.DNS: Cause.UNREACHABLE,
    Reason.TLS: Cause.UNREACHABLE,
    Reason.ROBOTS_UNREACHABLE: Cause.UNREACHABLE,
    Reason.ROBOTS: Cause.ROBOTS,
    Reason.LOGIN: Cause.SIGN_IN,
    Reason.CONTENT_TYPE: Cause.ANOTHER_TYPE,
}


class Unseen(NamedTuple):
    """A page that should have been compared and was not."""

    url: str
    cause: Cause
    target: str | None = None
    """Where a redirect leads."""


class UnseenPages(BaseModel):
    """Pages that could not be compared for one and the same cause."""

    model_config = ConfigDict(frozen=True)

    cause: Cause
    pages: int
    target: str | None = Field(None, description="Where a redirect leads")
    section: str | None = Field(None, description="Path that all of them begin with, and hardly a compared page")
    example_urls: tuple[str, ...] = ()


class Coverage(BaseModel):
    """How many of the pages that should have been compared were."""

    model_config = ConfigDict(frozen=True)

    expected: int = Field(description="Pages known from before, without those that are gone or not wanted any more")
    compared: int
    unseen: tuple[UnseenPages, ...] = Field((), description="Why the others were not; the largest group first")
    failing: bool = Field(default=False, description="Too few to call the run a success: notices count it as failed")
    code: str | None = Field(
        None, description="With failing: credentials_expired, section_closed, or the cause of the most pages"
    )
    unlinked: int = Field(
        0, description="Pages that nothing leads to any more; they are compared as long as they answer"
    )
    lost_links: bool = Field(
        default=False, description="So many of them that new pages may be missed: told like a significant change"
    )
    new_without_room: int = Field(
        0, description="Addresses that were not there before and were not fetched, because the crawl stops at max_pages"
    )
    hash_views: int = Field(0, description="Views behind a # (#/prices) that links lead to: they are not crawled")
    given_up: int = Field(
        0, description="Addresses that nothing leads to and that could not be compared for long: not asked for any more"
    )
    given_up_urls: tuple[str, ...] = Field((), description="The first of them")
    sentence: str | None = Field(None, description="The same in words; null when all pages were found and compared")


class Found(NamedTuple):
    """What a comparison knows about pages that it could not compare."""

    walls: Mapping[str, Wall] = {}
    """Walls that stand there now, by URL."""
    is_limited: bool = False
    """The crawl stopped where max_pages says: what it did not reach is said, and is no failure."""
    credentials_of: str | None = None
    """The project's name, if it sends credentials."""
    unsettled: Container[str] = ()
    """URLs of pages that the crawl before could not tell about either."""
    sign_ins: SignIns = BY_NAME
    unlinked: int = 0
    """Pages that nothing leads to any more, though something did in the crawl before."""
    is_nofollow: bool = False
    """The first page forbids to follow its links."""
    new_without_room: int = 0
    """Addresses that were not there before, and for which max_pages had no room."""
    hash_views: int = 0
    """Views behind a `#`, which are no pages."""
    given_up: Sequence[str] = ()
    """Addresses that nothing leads to and that crawls asked for in vain: this one was the first that did not."""
    views: Sequence[str] = ()
    """Pages of the crawl before that are left out now, because they seem to show others in another way."""


NOTHING_FOUND = Found()


def cover(changes: Changes, found: Found = NOTHING_FOUND) -> Coverage:
    unseen = list(_unseen(changes, found))
    compared = len(changes.changed) + len(changes.unchanged)
    asks = bool(found.credentials_of) and any(page.cause is Cause.SIGN_IN for page in unseen)
    blind = _is_blind(compared, len(unseen))
    groups = _grouped(unseen, [*changes.changed, *changes.unchanged], is_blind=blind)
    failing = asks or blind or any(_is_closed(group) for group in groups)
    told = {"expected": compared + len(unseen), "compared": compared}
    # Where little was seen, links are missing because their pages are: that is said already.
    fewer = not blind and found.unlinked >= FEWEST and found.unlinked >= TOO_FEW * compared
    expired = found.credentials_of if asks else None
    why = [because(group.model_dump()) for group in groups]
    sentences = [blind_words(**told, why=why, expired=expired)] if why else []
    sentences += [unlinked_words(found.unlinked, told["expected"], is_nofollow=found.is_nofollow)] if fewer else []
    no_room = [page.url for page in changes.lost if _had_no_room(page, found)]
    is_accident = len(no_room) < FEWEST and not any(url in found.unsettled for url in no_room)
    sentences += [limited_words(len(no_room))] if no_room and not is_accident else []
    sentences += [no_room_words(found.new_without_room)] if found.new_without_room else []
    sentences += [given_up_words(found.given_up)] if found.given_up else []
    sentences += [views_words(found.views)] if found.views else []
    sentences += [hash_views_words(found.hash_views)] if found.hash_views else []
    return Coverage(
        **told,
        hash_views=found.hash_views,
        given_up=len(found.given_up),
        given_up_urls=tuple(found.given_up[:MOST_EXAMPLES]),
        unlinked=found.unlinked,
        new_without_room=found.new_without_room,
        lost_links=fewer and not found.is_nofollow,
        unseen=tuple(groups[:MOST_REASONS]),
        failing=failing,
        code=_code(groups, compared, len(unseen), asks=asks) if failing else None,
        sentence=" ".join(sentences) or None,
    )


def _is_blind(compared: int, missing: int) -> bool:
    if not compared:
        return missing > 0
    return missing >= FEWEST and compared < TOO_FEW * (compared + missing)


def _is_closed(group: UnseenPages) -> bool:
    """A section, or pages that ask to sign in wherever they are: that happens to nobody by chance."""
    return group.section is not None or (group.pages >= FEWEST and group.cause is Cause.SIGN_IN)


def _code(groups: Sequence[UnseenPages], compared: int, missing: int, *, asks: bool) -> str:
    if asks:
        return CREDENTIALS_EXPIRED
    if _is_blind(compared, missing):
        return groups[0].cause.value
    closed = [group for group in groups if _is_closed(group)]
    return SECTION_CLOSED if any(group.section for group in closed) else closed[0].cause.value


def _unseen(changes: Changes, found: Found) -> Iterable[Unseen]:
    for url, wall in found.walls.items():
        yield Unseen(url, Cause(wall.value))
    for url in changes.needs_browser:
        yield Unseen(url, Cause.NEEDS_BROWSER)
    for url in changes.fetched_otherwise:
        yield Unseen(url, Cause.FETCHED_OTHERWISE)
    for page in changes.lost:
        if page.is_unseen and not _had_no_room(page, found):
            yield _of_lost(page, found)


def _had_no_room(page: LostPage, found: Found) -> bool:
    return found.is_limited and page.kind is Removal.NOT_REACHED


def _of_lost(page: LostPage, found: Found) -> Unseen:
    if page.target:
        cause = Cause.SIGN_IN if found.sign_ins.asks(page.target) else Cause.REDIRECT
        return Unseen(page.url, cause, leads_to(page, found.sign_ins))
    if page.kind is Removal.NOT_REACHED and page.reason is None:
        return Unseen(page.url, Cause.NOT_REACHED)
    cause = _BY_REASON.get(Reason(page.reason), Cause.FAILED) if page.reason else Cause.FAILED
    if cause is Cause.REFUSED and found.credentials_of and page.status in (401, 403):
        cause = Cause.SIGN_IN
    return Unseen(page.url, cause)


def _grouped(unseen: Sequence[Unseen], compared: Sequence[str], *, is_blind: bool) -> list[UnseenPages]:
    """One group for each cause and place, the largest first. Of many pages behind one wall the section is named, and
    each of several closed sections, unless most of the site is missing: then the causes are what matters."""
    seen = seen_sections(compared) if unseen else {}
    closing = [page.url for page in unseen if page.cause not in _CLOSES_NOTHING]
    closed = () if is_blind else closed_sections(closing, seen, FEWEST, MOST_REASONS)
    groups: dict[tuple[Cause, str | None, str | None], list[str]] = {}
    for page in unseen:
        sections = sections_of(page.url) if closed and page.cause not in _CLOSES_NOTHING else ()
        within = next((section for section in closed if section in sections), None)
        groups.setdefault((page.cause, page.target, within), []).append(page.url)
    found = []
    for (cause, target, within), urls in groups.items():
        is_common = within is not None or (len(urls) >= FEWEST and cause not in _CLOSES_NOTHING)
        section = (common_section(urls, seen) if is_common else None) or within
        found.append(
            UnseenPages(
                cause=cause,
                pages=len(urls),
                target=target,
                section=path_of(section) if section else None,
                example_urls=tuple(sorted(urls)[:MOST_EXAMPLES]),
            )
        )
    return sorted(found, key=lambda group: (-group.pages, group.cause, group.target or "", group.section or ""))


def is_failing(summary: Mapping[str, Any] | None) -> bool:
    """Whether a crawl that was compared counts as failed, because too few of its pages were."""
    return bool(((summary or {}).get("coverage") or {}).get("failing"))


def coverage_sentence(summary: Mapping[str, Any] | None) -> str | None:
    found: str | None = ((summary or {}).get("coverage") or {}).get("sentence")
    return found


def sign_in_places(summary: Mapping[str, Any] | None) -> frozenset[str]:
    """Where pages of a crawl were asked to sign in."""
    groups = ((summary or {}).get("coverage") or {}).get("unseen", ())
    return frozenset(group["target"] for group in groups if group["cause"] == Cause.SIGN_IN and group["target"])
