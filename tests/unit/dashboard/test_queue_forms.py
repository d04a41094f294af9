"""What the queue's pages make of what people typed, and of why entries failed."""

from contextlib import suppress
from datetime import UTC, datetime
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.domain.acquisition.entries import EntryStatus, QueueEntry, QueueFilter
from crawler.domain.acquisition.entry_choices import Sort
from crawler.domain.acquisition.selectors import read_selectors
from crawler.entrypoints.dashboard.forms.fields import Form
from crawler.entrypoints.dashboard.forms.selectors import selectors_of, text_of, typed
from crawler.entrypoints.dashboard.views.queue_failures import trouble_of
from crawler.entrypoints.dashboard.views.queue_filters import View, view_of, view_of_form
from crawler.errors import Invalid

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def test_selectors_survive_the_way_through_the_form() -> None:
    rules = read_selectors(
        {
            "include": ["main", "xpath://article"],
            "exclude": [".ad\n,  .promo"],
            "fields": {
                "name": {"selector": "h1", "required": True},
                "photos": {"selector": "img", "attribute": "src", "many": True},
                "price": {"selector": "//b/text()", "kind": "xpath"},
            },
        }
    )
    text = text_of(rules)
    pairs = [("include", text.include), ("exclude", text.exclude)]
    for row in text.fields:
        names = ("field_name", "field_kind", "field_selector", "field_attribute", "field_takes", "field_missing")
        pairs += zip(names, row, strict=True)
    again = read_selectors(selectors_of(typed(Form(pairs)), whole=True))
    assert again.fields == rules.fields
    assert again.include == rules.include
    assert again.exclude[0].selector == ".ad ,  .promo"


def row(name: str, selector: str) -> list[tuple[str, str]]:
    return [("field_name", name), ("field_kind", "css"), ("field_selector", selector), ("field_attribute", ""),
            ("field_takes", "first"), ("field_missing", "may")]  # fmt: skip


def test_rows_that_are_being_typed_are_passed_over_when_tried_and_told_when_saved() -> None:
    text = typed(Form([*row("name", "h1"), *row("price", ""), *row("", ".tag"), *row("", "")]))
    assert list(selectors_of(text, whole=False)["fields"]) == ["name"]
    with pytest.raises(Invalid, match=r"fields\.price: it has no selector"):
        selectors_of(text, whole=True)
    with pytest.raises(Invalid, match="two fields have this name"):
        selectors_of(typed(Form([*row("a", "h1"), *row("a", "h2")])), whole=False)


@pytest.mark.slow
@given(st.lists(st.tuples(st.sampled_from(["include", "field_name", "field_selector", "field_kind"]), st.text())))
def test_no_form_whatever_it_holds_is_more_than_refused(pairs: list[tuple[str, str]]) -> None:
    with suppress(Invalid):
        read_selectors(selectors_of(typed(Form(pairs)), whole=False))


def test_a_view_means_what_its_address_says_and_nonsense_is_everything() -> None:
    view = view_of({"status": "failed", "category": " hotel ", "active": "no", "host": "a.example", "q": "a.example/x"})
    assert view.chosen == QueueFilter(
        status=EntryStatus.FAILED, category="hotel", active=False, host="a.example", prefix="a.example/x"
    )
    assert view.api["active"] == "false"
    nonsense = view_of({"status": "<b>", "active": "perhaps", "sort": "upwards", "category": "x" * 500})
    assert nonsense == View(category="x" * 64)
    assert nonsense.order is Sort.NEWEST
    assert not view_of({}).is_narrow


@pytest.mark.slow
@pytest.mark.parametrize("pair", [("status", "faild"), ("active", "perhaps")])
def test_what_is_done_with_all_is_not_done_for_a_filter_that_is_none(pair: tuple[str, str]) -> None:
    with pytest.raises(Invalid, match="nothing was done"):
        view_of_form(Form([pair]))
    assert view_of_form(Form([("status", "failed"), ("active", ""), ("sort", "x")])) == View(status="failed")


def entry(last_error: str | None, *, stored: bool = False) -> QueueEntry:
    return QueueEntry(
        id=1, project_id=None, source_url="http://a.example/", normalized_url="a.example/", host="a.example",
        status=EntryStatus.FAILED, category=None, priority=5, attempts=1, last_error=last_error, last_attempted_at=NOW,
        is_active=True, page_id=uuid4() if stored else None, crawl_id=None, extraction_id=None, created_at=NOW,
        updated_at=NOW,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("last_error", "stored", "word", "said", "helps"),
    [
        ("not_found (HTTP 404)", False, "not found", "(HTTP 404)", "no such page"),
        ("dns: no such host", False, "dns", "no such host", "spelling"),
        ("timeout: It took too long.", False, "timeout", "It took too long.", "did not answer in time"),
        ("timeout: It took too long.", True, "timeout", "It took too long.", "simpler selectors"),
        ("field_missing: no name", True, "field missing", "no name", "selectors"),
        ("gone: its page", False, "gone", "its page", "Fetch it again"),
        ("something nobody foresaw: x", False, "", "something nobody foresaw: x", ""),
        ("The batch ended.", False, "", "The batch ended.", ""),
    ],
)
def test_why_it_failed_is_said_with_what_can_be_done(
    last_error: str, stored: bool, word: str, said: str, helps: str
) -> None:
    found = trouble_of(entry(last_error, stored=stored))
    assert found is not None
    assert (found.word, found.said) == (word, said)
    assert helps in found.help
    assert bool(helps) == bool(found.help)


def test_what_did_not_fail_has_no_trouble() -> None:
    assert trouble_of(entry(None)) is None
