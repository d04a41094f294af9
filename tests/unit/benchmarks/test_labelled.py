"""The labelled pairs themselves: the judge of the noise rules has to be fair."""

from benchmarks.labelled import wording
from benchmarks.labelled.corpus import OWN_PAGES
from benchmarks.labelled.making import make_sites
from benchmarks.labelled.values import Half, Label


def test_the_same_arguments_make_the_same_pairs() -> None:
    assert list(make_sites(OWN_PAGES, Half.TUNING, 2)) == list(make_sites(OWN_PAGES, Half.TUNING, 2))


def test_the_halves_share_neither_pages_nor_words() -> None:
    tuning, unseen = (
        {pair.url.partition(".example")[2] for site in make_sites(OWN_PAGES, half, 4) for pair in site.pairs}
        for half in Half
    )
    assert tuning
    assert unseen
    assert not tuning & unseen
    for words in (wording.STAMP, wording.VIEWS, wording.ADS, wording.REQUEST, wording.CLASSES):
        own = [set(wording.own(words, half)) for half in Half]
        assert not own[0] & own[1]
        assert own[0] | own[1] == set(words)


def test_pairs_differ_and_both_labels_are_there() -> None:
    pairs = [pair for site in make_sites(OWN_PAGES, Half.TUNING, 12) for pair in site.pairs]
    assert all(pair.before != pair.after for pair in pairs)
    labels = [pair.label for pair in pairs]
    assert labels.count(Label.REAL) > 15
    assert labels.count(Label.NOISE) > 15
    assert any(pair.before_again for pair in pairs)
