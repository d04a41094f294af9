import pytest

from crawler.domain.acquisition.entries import Chosen, EntryStatus, QueueFilter, batch_config, new_entry, sources_of
from crawler.domain.acquisition.entry_choices import BulkAction
from crawler.domain.crawls.crawl import CrawlConfig
from crawler.errors import Invalid

S = EntryStatus
ALLOWED = {
    (S.PENDING, S.FETCHING), (S.FETCHING, S.FETCHED), (S.FETCHING, S.FAILED), (S.FETCHING, S.PENDING),
    (S.FETCHED, S.EXTRACTING), (S.EXTRACTING, S.DONE), (S.EXTRACTING, S.FAILED), (S.EXTRACTING, S.FETCHED),
    (S.FETCHED, S.PENDING), (S.DONE, S.PENDING), (S.FAILED, S.PENDING),
}  # fmt: skip


@pytest.mark.parametrize("old", list(S))
@pytest.mark.parametrize("new", list(S))
def test_an_entry_goes_only_where_the_workflow_leads(old: EntryStatus, new: EntryStatus) -> None:
    assert (old in sources_of(new)) == ((old, new) in ALLOWED)


def test_a_new_entry_has_the_middle_priority_and_no_category() -> None:
    made = new_entry("https://A.example/Path?b=2&a=1")
    assert not isinstance(made, str)
    assert made == ("https://a.example/Path?b=2&a=1", "a.example/path?a=1&b=2", "a.example", None, 5)


@pytest.mark.parametrize("priority", ["10", "-1", "x", "1.5", "٣"])
def test_a_priority_is_one_of_ten(priority: str) -> None:
    assert isinstance(new_entry("http://a.example/", "", priority), str)


@pytest.mark.parametrize(
    ("ids", "chosen", "everything"),
    [
        ((), None, False),
        ((), QueueFilter(), False),
        ((), QueueFilter(prefix=""), False),
        ((), QueueFilter(prefix=" https://"), False),
        ((1,), None, True),
    ],
)
def test_no_slip_of_the_hand_means_all_entries(
    ids: tuple[int, ...], chosen: QueueFilter | None, everything: bool
) -> None:
    with pytest.raises(Invalid, match="Say which"):
        Chosen.of(ids, chosen, everything=everything)


def test_a_retry_touches_what_went_well_only_by_name() -> None:
    assert Chosen.of((), QueueFilter(category="x")).retried() == {S.FAILED}
    assert Chosen.of((), None, everything=True).retried() == {S.FAILED}
    assert Chosen.of((1,), None).retried() == {S.FAILED, S.FETCHED, S.DONE}
    assert S.FETCHING not in Chosen.of((), QueueFilter(status=S.FETCHING)).retried()
    assert BulkAction("retry") is BulkAction.RETRY


def test_a_batch_is_polite_and_not_limited_as_one_website_is() -> None:
    config = batch_config(CrawlConfig(max_pages=1, max_concurrent=1, delay_seconds=0, respect_robots_txt=False), 500)
    assert config.max_pages >= 500
    assert config.max_concurrent > 100
    assert config.delay_seconds > 0, "or one host would get as many requests at once as the batch may make"
    assert not config.respect_robots_txt
    assert batch_config(CrawlConfig(delay_seconds=7), 1).delay_seconds == 7
