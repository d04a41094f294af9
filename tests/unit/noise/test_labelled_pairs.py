"""The rules on labelled pairs: the half they were tuned on, made of our own pages. `make bench` has the other half."""

import re

import pytest

from benchmarks.labelled.corpus import OWN_PAGES
from benchmarks.labelled.judging import Score, by_hash, judge, score
from benchmarks.labelled.making import make_sites
from benchmarks.labelled.values import Half, LabelledSite
from crawler.domain.noise.moving_values import ValueChange, ValueKind, value_changes
from crawler.domain.noise.priced_values import is_priced, is_random
from crawler.domain.noise.template_changes import TemplateChange

SITES = 24
# What is measured or left goes up and down with what it is; it is no count of what happened.
_MEASURED = re.compile(
    r"#\s?(?:days?|hours?|hrs?|minutes?|mins?|seconds?|secs?|weeks?|months?|years?|km|kg|g|mg|mm|cm|m|l|ml|mb|gb|tb|kb|ms|"
    r"watts?|kwh?|°|tage?n?|stunden|jours?|heures?|pieces?|seats?|places?|rooms?|left|available|remaining|in stock)\b|"
    r"\b(?:stock|left|available|remaining|limit|max(?:imum)?|min(?:imum)?|up to|at least|at most|within|per|allowed|"
    r"includ\w+|phone|tel|fax|room|opening|open|level|grade|score|rank|age)\b"
)
_WHOLE_NUMBER = re.compile(r"\d{1,3}(?:[.,' \u202f\u00a0]\d{3})+|\d+").fullmatch


@pytest.fixture(scope="module")
def sites() -> list[LabelledSite]:
    return list(make_sites(OWN_PAGES, Half.TUNING, SITES))


@pytest.fixture(scope="module")
def judged(sites: list[LabelledSite]) -> Score:
    return score(one for site in sites for one in judge(site)[0])


def test_alerts_are_true(judged: Score) -> None:
    assert judged.precision >= 0.98, judged


def test_no_real_edit_is_missing(judged: Score) -> None:
    assert judged.recall >= 0.98, judged


def test_the_pairs_are_hard_without_rules(sites: list[LabelledSite]) -> None:
    """Else the numbers above would say nothing."""
    alone = score(one for site in sites for one in by_hash(site))
    assert alone.precision < 0.7
    assert alone.right > 30


def moves_by_itself(change: TemplateChange) -> bool:
    """Whether only whole numbers went up in this line, as what is counted does, or random tokens differ."""
    changes = value_changes(change.removed, change.added) if change.line else None
    if not changes or is_priced(changes) or any(_MEASURED.search(one.around) for one in changes):
        return False
    return all(is_random(one) or (one.kind is ValueKind.NUMBER and grew(one)) for one in changes)


def grew(change: ValueChange) -> bool:
    if not (_WHOLE_NUMBER(change.old) and _WHOLE_NUMBER(change.new)):
        return False
    old, new = (int(re.sub(r"\D", "", text)) for text in (change.old, change.new))
    return old < new


@pytest.mark.slow
def test_template_edits_are_told_once_for_the_site(sites: list[LabelledSite]) -> None:
    for site in sites:
        # Counters of all pages, and tags of releases, are told beside them, but as nobody's edits.
        found = [change for change in judge(site)[1] if not moves_by_itself(change)]
        assert len(found) >= (site.template_edits > 0)
        assert len(found) <= 3 * site.template_edits
