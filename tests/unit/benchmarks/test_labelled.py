"""The labelled pairs themselves: the judge of the noise rules has to be fair."""

from benchmarks.labelled import moments, wording
from benchmarks.labelled.corpus import OWN_PAGES
from benchmarks.labelled.later_wording import LATER
from benchmarks.labelled.making import make_sites
from benchmarks.labelled.shares import share
from benchmarks.labelled.values import Half, Label
from benchmarks.noise import Batch, measure, table


def test_the_same_arguments_make_the_same_pairs() -> None:
    assert list(make_sites(OWN_PAGES, Half.TUNING, 2)) == list(make_sites(OWN_PAGES, Half.TUNING, 2))


def test_the_halves_share_neither_pages_nor_words() -> None:
    tuning, unseen = (
        {pair.url.partition(".example")[2] for site in make_sites(OWN_PAGES, half, 4) for pair in site.pairs}
        for half in (Half.TUNING, Half.UNSEEN)
    )
    assert tuning
    assert unseen
    assert not tuning & unseen
    for words in (wording.STAMP, wording.VIEWS, wording.ADS, wording.REQUEST, wording.CLASSES):
        own = [set(share(words, half)) for half in (Half.TUNING, Half.UNSEEN)]
        assert not own[0] & own[1]
        assert own[0] | own[1] == set(words)


def test_pairs_differ_and_both_labels_are_there() -> None:
    pairs = [pair for site in make_sites(OWN_PAGES, Half.TUNING, 12) for pair in site.pairs]
    assert all(pair.before != pair.after for pair in pairs)
    labels = [pair.label for pair in pairs]
    assert labels.count(Label.REAL) > 15
    assert labels.count(Label.NOISE) > 15
    assert any(pair.before_again for pair in pairs)


def test_what_was_wrong_is_told_by_name() -> None:
    outcome = measure(Batch("tuning", Half.TUNING, 0, 2), [OWN_PAGES])
    assert outcome.told.right + outcome.told.missed == outcome.alone.right
    text = table([outcome._replace(wrong=("missed: word, https://s0.example/a",))])
    assert "| tuning | 2 | " in text
    assert text.endswith("- tuning: missed: word, https://s0.example/a")


def test_the_later_part_has_words_of_its_own() -> None:
    for words, later in LATER.items():
        assert not set(words) & set(later) or words in (moments.DATES, moments.TIMES)
        assert share(words, Half.LATER) == list(later)
