"""What is wrong with a site, by what one crawl of it saw: kinds of findings, and the words for them."""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, computed_field

from crawler.domain.exports.files import harmless
from crawler.domain.exports.finding_kinds import FindingKind
from crawler.domain.reason_words import meaning
from crawler.domain.reasons import Reason
from crawler.errors import Invalid

HEADINGS = {
    FindingKind.BROKEN_LINK: "Broken links",
    FindingKind.REDIRECT: "Redirects",
    FindingKind.TITLE_MISSING: "No title",
    FindingKind.TITLE_DUPLICATE: "Same title as others",
    FindingKind.DESCRIPTION_MISSING: "No description",
    FindingKind.DESCRIPTION_DUPLICATE: "Same description as others",
    FindingKind.H1_MISSING: "No h1",
    FindingKind.CANONICAL: "Canonical problems",
    FindingKind.HREFLANG: "hreflang problems",
    FindingKind.NOINDEX: "Not for search engines",
    FindingKind.SLOW: "Slow pages",
    FindingKind.LARGE: "Large pages",
    FindingKind.ORPHAN: "In the sitemap, linked from nowhere",
}

# Those that say something about the link. That we were asked to slow down, or lost a worker, says nothing.
BROKEN_REASONS = frozenset(
    {
        Reason.NOT_FOUND,
        Reason.FORBIDDEN,
        Reason.DNS,
        Reason.CONNECT,
        Reason.TIMEOUT,
        Reason.TLS,
        Reason.PROTOCOL,
        Reason.HTTP_5XX,
    }
)
REDIRECT_REASONS = frozenset({Reason.REDIRECTED, Reason.REDIRECT_LOOP, Reason.OFF_DOMAIN})

PROBLEM_MEANINGS = {
    FindingKind.REDIRECT: {
        "one_hop": "It redirects; link to where it leads.",
        "chain": "It redirects several times over; link to where it leads.",
        "loop": "Its redirects go in circles or never end; nobody arrives.",
        "dead_end": "It redirects to something that is broken.",
        "off_site": "It redirects to another site.",
    },
    FindingKind.TITLE_MISSING: {"missing": "The page has no title."},
    FindingKind.TITLE_DUPLICATE: {"duplicate": "Other pages have the same title."},
    FindingKind.DESCRIPTION_MISSING: {"missing": "The page has no meta description."},
    FindingKind.DESCRIPTION_DUPLICATE: {"duplicate": "Other pages have the same meta description."},
    FindingKind.H1_MISSING: {"missing": "The page has no h1."},
    FindingKind.CANONICAL: {
        "conflict": "It names several canonical URLs that differ.",
        "broken": "Its canonical URL is broken.",
        "redirects": "Its canonical URL redirects.",
        "loop": "Its canonical page names it as canonical in turn.",
        "chain": "Its canonical page names yet another as canonical.",
        "noindex": "Its canonical page is not for search engines.",
        "robots": "Its canonical URL is forbidden to robots.",
        "other_host": "Its canonical URL is on another host.",
    },
    FindingKind.HREFLANG: {
        "invalid_code": "A language code that search engines do not understand.",
        "no_self": "Its translations do not name the page itself.",
        "broken": "A translation is broken.",
        "redirects": "A translation redirects.",
        "no_return": "A translation does not name this page in turn.",
    },
    FindingKind.NOINDEX: {
        "meta": "Its robots meta tag says noindex.",
        "header": "Its X-Robots-Tag header says noindex.",
    },
    FindingKind.SLOW: {"slow": "It took long to arrive."},
    FindingKind.LARGE: {
        "large": "Its HTML is large.",
        "not_kept": "It is larger than is kept, so it was not stored.",
    },
    FindingKind.ORPHAN: {"orphan": "The sitemap names it, but no page links to it."},
}


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class ReportLimits(_Value):
    """From where on something is worth a finding."""

    slow_seconds: float = Field(2.0, gt=0, description="A page that took so long to arrive is slow")
    large_bytes: int = Field(1_000_000, gt=0, description="HTML of so many bytes is large")
    sources: int = Field(100, ge=1, le=1000, description="Pages named in one finding; all are counted")
    findings: int = Field(100_000, ge=1, description="Findings kept of one kind")


class Related(_Value):
    """Another URL the finding is about."""

    url: str
    text: str = ""
    """The link's anchor, or the translation's language code."""


class Finding(_Value):
    kind: FindingKind
    position: int
    """Its place among those of its kind, from 1; the gravest come first."""
    url: str
    normalized_url: str
    problem: str
    """Stable for programs; what there is depends on the kind."""
    text: str | None = None
    """The duplicate text, or the way of a redirect."""
    value: int | None = None
    """HTTP status, hops, pages that share the text, milliseconds or bytes."""
    related: tuple[Related, ...] = ()
    related_count: int = 0
    """Of all, also those that `related` leaves out."""
    is_new: bool | None = None
    """Not among the findings of the crawl before; None when there is none to compare with, or it could not tell."""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def meaning(self) -> str:
        return problem_meaning(self.kind, self.problem)


class KindCount(_Value):
    found: int
    new: int | None
    """None when nothing could be compared."""


class ReportHead(_Value):
    crawl_id: UUID
    compared_to: UUID | None
    limits: ReportLimits
    counts: dict[FindingKind, KindCount]
    notes: dict[FindingKind, str]
    """Why a kind could not be told, or not wholly."""
    built_at: datetime


class KindReport(_Value):
    kind: FindingKind
    heading: str
    found: int
    new: int | None
    note: str | None
    first: tuple[Finding, ...]


class Report(_Value):
    crawl_id: UUID
    compared_to: UUID | None
    built_at: datetime
    limits: ReportLimits
    found: int
    new: int | None
    kinds: tuple[KindReport, ...]


def problem_meaning(kind: FindingKind, problem: str) -> str:
    """A problem as one sentence. A broken link's problem is the reason its URL ended with.

    A newer service may name others.
    """
    if kind is FindingKind.BROKEN_LINK and problem in Reason.__members__.values():
        return meaning(Reason(problem))
    return PROBLEM_MEANINGS.get(kind, {}).get(problem) or f"This version knows no words for {problem!r}."


def finding_kinds(names: Iterable[str]) -> tuple[FindingKind, ...]:
    """The kinds with these names in reading order, all when none is named. Raises Invalid with the names there are."""
    wanted = list(names)
    for name in wanted:
        if name not in FindingKind.__members__.values():
            raise Invalid(f"There is no kind of finding {name!r}; choose from {', '.join(FindingKind)}.")
    return tuple(kind for kind in FindingKind if not wanted or kind in wanted)


def summed(head: ReportHead, kinds: Sequence[KindReport]) -> Report:
    told = [kind.new for kind in kinds if kind.new is not None]
    return Report(
        crawl_id=head.crawl_id,
        compared_to=head.compared_to,
        built_at=head.built_at,
        limits=head.limits,
        found=sum(kind.found for kind in kinds),
        new=sum(told) if told else None,
        kinds=tuple(kinds),
    )


CSV_COLUMNS = (
    "kind",
    "problem",
    "url",
    "value",
    "text",
    "related_url",
    "related_text",
    "related_count",
    "new",
    "meaning",
)


def as_csv(findings: Iterable[Finding]) -> Iterator[bytes]:
    """A heading, then a row for each finding and each page it names: every broken link is a row with its source."""
    line = io.StringIO()
    writer = csv.writer(line)

    def written(cells: Iterable[object]) -> bytes:
        writer.writerow([harmless(cell) for cell in cells])
        text = line.getvalue()
        line.seek(0)
        line.truncate()
        return text.encode("utf-8", "replace")

    yield written(CSV_COLUMNS)
    for finding in findings:
        yield from (written(row) for row in _rows(finding))


def _rows(finding: Finding) -> Iterator[tuple[object, ...]]:
    new = {None: "", True: "new", False: "known"}[finding.is_new]
    head = (finding.kind.value, finding.problem, finding.url, finding.value, finding.text)
    tail = (finding.related_count, new, finding.meaning)
    for related in finding.related or (Related(url=""),):
        yield (*head, related.url, related.text, *tail)
