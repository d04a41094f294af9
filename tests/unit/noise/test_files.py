"""Two versions of a file: what is told as changed, and what is not."""

import json
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from crawler.domain.diffs.file_blocks import NoLines
from crawler.domain.noise.page_noise import FilteredPage
from crawler.domain.noise.page_pairs import PagePair, PageSide
from crawler.domain.noise.rules import NoiseRule, RuleKind, RuleSet
from crawler.domain.pages.pdf_reading import PdfReading

THEN = datetime(2026, 5, 4, 9, 0, tzinfo=UTC)
NOW = THEN + timedelta(days=1)
JSON, TEXT, PDF = "application/json", "text/plain; charset=utf-8", "application/pdf"
ITEMS = [{"id": n, "name": f"Chair {n}", "price": 100.0 + n} for n in range(20)]


def compared(old: bytes, new: bytes, kind: str, rules: RuleSet | None = None) -> FilteredPage:
    pair = PagePair("https://e.example/f", uuid4(), PageSide(old, kind, THEN), PageSide(new, kind, NOW))
    return pair.apply_noise_rules(rules or RuleSet())


def told(page: FilteredPage) -> list[tuple[str | None, str | None]]:
    assert page.wall is None
    return [(edit.removed and edit.removed.text, edit.added and edit.added.text) for edit in page.edits]


def of_json(old: object, new: object, rules: RuleSet | None = None) -> list[tuple[str | None, str | None]]:
    return told(compared(json.dumps(old).encode(), json.dumps(new, indent=1).encode(), JSON, rules))


def rules(kind: RuleKind, value: str) -> RuleSet:
    return RuleSet.of([NoiseRule(id=UUID(int=1), project_id=UUID(int=2), kind=kind, value=value, created_at=THEN)])


def test_a_value_of_json_is_told_with_its_path() -> None:
    new = [item | {"price": 99.0} if item["id"] == 3 else item for item in ITEMS]
    assert of_json({"items": ITEMS}, {"items": new}) == [("items[3].price: 103.0", "items[3].price: 99.0")]


def test_one_more_at_the_beginning_of_a_list_moves_the_others_and_changes_none() -> None:
    first = {"id": 77, "name": "Table", "price": 1}
    assert of_json({"items": ITEMS}, {"items": [first, *ITEMS]}) == [
        (None, "items[0].id: 77"),
        (None, 'items[0].name: "Table"'),
        (None, "items[0].price: 1"),
    ]


def test_how_json_is_written_is_no_change() -> None:
    assert of_json({"a": 1, "items": ITEMS}, {"items": ITEMS, "a": 1.0}) == []


def test_a_time_that_runs_with_ours_may_be_ignored_as_on_pages() -> None:
    old, new = ({"updated": f"{at:%Y-%m-%d}", "items": ITEMS} for at in (THEN, NOW))
    assert of_json(old, new, rules(RuleKind.DATES, "*")) == []
    assert of_json(old, new, rules(RuleKind.REGEX, "^updated: ")) == []
    assert of_json(old, new | {"items": ITEMS[1:]}, rules(RuleKind.REGEX, "^updated: "))


@pytest.mark.parametrize(
    "form", ["{:%Y-%m-%dT%H:%M:%S}Z", "{:%a, %d %b %Y %H:%M:%S} GMT", "{:%Y-%m-%dT%H:%M:%S}+00:00"]
)
def test_the_moment_of_the_fetch_in_a_file_is_no_change(form: str) -> None:
    def data(at: datetime) -> dict[str, object]:
        return {"made": form.format(at), "at": int(at.timestamp()), "ms": int(at.timestamp() * 1000), "items": ITEMS}

    then, now, late = THEN - timedelta(seconds=30), NOW + timedelta(seconds=5), NOW - timedelta(minutes=5)
    assert of_json(data(then), data(now)) == []
    assert len(of_json(data(then), data(late))) == 3, "somebody edited it five minutes before"
    assert len(of_json(data(late - timedelta(days=1)), data(now))) == 3
    assert of_json(data(then), data(now) | {"items": ITEMS[1:]})


def test_a_day_in_a_file_is_what_it_is_about() -> None:
    assert of_json({"from": "2026-05-04", "items": ITEMS}, {"from": "2026-05-05", "items": ITEMS})


def test_a_file_that_shrinks_to_a_word_is_changed_and_no_wall() -> None:
    long = "\n".join(f"Line {n} of the file" for n in range(30)).encode()
    assert len(told(compared(long, b"closed", TEXT))) == 30
    assert told(compared(long, b"An error has occurred while we made this", TEXT))
    assert of_json({"items": ITEMS}, {"error": "try again later"})


def test_a_text_is_told_line_by_line() -> None:
    old = b"# Fees\n\nAdults: 12\nChildren: 6\n"
    assert told(compared(old, old.replace(b"\n", b"\r\n"), TEXT)) == []
    assert told(compared(old, old.replace(b"6", b"7"), TEXT)) == [("Children: 6", "Children: 7")]
    assert told(compared(old, b"<title>x</title>\n" + old, TEXT)) == [(None, "<title>x</title>")]


def pdf(old: str, new: str) -> FilteredPage:
    before, after = (PageSide(b"%PDF-" + text.encode(), PDF, THEN, PdfReading(text)) for text in (old, new))
    return PagePair("https://e.example/f.pdf", uuid4(), before, after).apply_noise_rules(RuleSet())


def test_a_pdf_with_other_bytes_and_the_same_text_is_the_same() -> None:
    assert told(pdf("The fee is 12 euros.\nIt is due in May.", "The fee is 12 euros. \nIt is due in May.")) == []


def test_an_edited_sentence_is_told_alone_though_all_lines_after_it_break_elsewhere() -> None:
    start, end = "The members met on the third of\nMay. The ", "It is due in"
    old = f"{start}fee is twelve euros for\nmembers. {end} June. Nobody\nwas against it."
    new = f"{start}yearly fee is now thirteen\neuros for members. {end}\nJune. Nobody was against it."
    assert told(pdf(old, new)) == [
        ("The fee is twelve euros for members.", "The yearly fee is now thirteen euros for members.")
    ]


def test_a_pdf_that_is_longer_than_is_read_is_never_taken_for_the_same() -> None:
    old, new = (PageSide(b"%PDF-" + end, PDF, THEN, PdfReading("The fee.", is_cut=True)) for end in (b"1", b"2"))
    with pytest.raises(NoLines):
        PagePair("https://e.example/f", uuid4(), old, new).apply_noise_rules(RuleSet())
    new = new._replace(pdf=PdfReading("The new fee.", is_cut=True))
    assert told(PagePair("https://e.example/f", uuid4(), old, new).apply_noise_rules(RuleSet()))


@pytest.mark.parametrize(
    ("content_type", "reading"), [(PDF, PdfReading("", "It is a scan.")), (PDF, None), ("application/zip", None)]
)
def test_what_has_no_text_is_left_to_its_bytes(content_type: str, reading: PdfReading | None) -> None:
    old, new = (PageSide(b"PK\0\0" + end, content_type, THEN, reading) for end in (b"1", b"2"))
    with pytest.raises(NoLines) as told:
        PagePair("https://e.example/f", uuid4(), old, new).apply_noise_rules(RuleSet())
    assert told.value.message


def test_the_same_bytes_are_the_same_whatever_they_are() -> None:
    assert told(compared(b"PK\0\0", b"PK\0\0", "application/zip")) == []


def test_a_file_that_became_a_web_page_is_changed() -> None:
    old = PageSide(b"Fees\nAdults: 12\n", TEXT, THEN)
    new = PageSide(b"<title>Fees</title><p>Adults: 12</p><p>Children: 6</p>", "text/html", NOW)
    assert PagePair("https://e.example/f", uuid4(), old, new).apply_noise_rules(RuleSet()).edits


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([["Heron", "Tern"], ["Owl"]], [["Heron"], ["Tern", "Owl"]]),
        ([{"boats": ["Heron", "Tern"]}, {"boats": ["Owl"]}], [{"boats": ["Heron"]}, {"boats": ["Tern", "Owl"]}]),
        ([[{"is": "Heron"}, {"is": "Tern"}], [{"is": "Owl"}]], [[{"is": "Heron"}], [{"is": "Tern"}, {"is": "Owl"}]]),
        ([[[1, 2], [3]], [[4]]], [[[1, 2]], [[3], [4]]]),
        ({"hours": [["Heron"], [], []]}, {"hours": [[], [], ["Heron"]]}),
    ],
)  # fmt: skip
def test_a_value_that_goes_from_one_list_to_another_is_told(old: object, new: object) -> None:
    assert of_json(old, new)


def test_lists_may_grow_at_their_top() -> None:
    assert of_json({"boats": ["Tern", "Owl"]}, {"boats": ["Heron", "Tern", "Owl"]}) == [(None, 'boats[0]: "Heron"')]
    days = [{"day": n, "boats": [f"Heron {n}", f"Tern {n}"]} for n in range(4)]
    more = [days[0] | {"boats": ["Owl", *days[0]["boats"]]}, *days[1:]]  # type: ignore[misc]
    assert of_json(days, more) == [(None, '[0].boats[0]: "Owl"')]
    rows = [[n, f"Heron {n}", 3 * n] for n in range(9)]
    assert len(of_json(rows, [[70, "Owl", 21], *rows])) == 3
