"""The rules on labelled pairs: the half they were tuned on, made of our own pages. `make bench` has the other half."""

import pytest

from benchmarks.labelled.corpus import OWN_PAGES
from benchmarks.labelled.judging import Score, by_hash, judge, score
from benchmarks.labelled.making import make_sites
from benchmarks.labelled.values import Half, LabelledSite

SITES = 24


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


def test_template_edits_are_told_once_for_the_site(sites: list[LabelledSite]) -> None:
    for site in sites:
        # Counters of all pages, and tags of releases, are told beside them, but as nobody's edits.
        found = [change for change in judge(site)[1] if not change.grows]
        assert len(found) >= (site.template_edits > 0)
        assert len(found) <= 3 * site.template_edits
