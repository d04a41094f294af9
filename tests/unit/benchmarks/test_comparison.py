"""The table of crawlers side by side."""

from benchmarks.comparison import BARE, OURS, SCRAPY, Result, agreement, table

PAGES = frozenset({("h", "/"), ("h", "/1")})


def result(crawler: str, speed: float, pages: frozenset[tuple[str, str]] = PAGES, written: int = 2) -> Result:
    return Result(crawler, "manual", speed, speed / 100, 1.5, 200.0, written, pages)


def cells(text: str, crawler: str) -> list[str]:
    (line,) = (line for line in text.splitlines() if f"| {crawler} |" in line)
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_ratios_are_of_medians_to_scrapy_and_to_the_bare_loop() -> None:
    fast = [result(OURS, speed) for speed in (1200, 10, 1100)]
    text = table([*fast, result(SCRAPY, 100), result(BARE, 1000)])
    assert cells(text, OURS) == ["manual", OURS, "2", "1,100", "11.00", "1.10", "11.0", "1.50", "200"]
    assert cells(text, SCRAPY)[4] == "1.00"


def test_a_crawler_that_did_not_run_gives_no_ratio() -> None:
    assert cells(table([result(OURS, 100)]), OURS)[4:6] == ["–", "–"]


def test_every_line_of_the_table_has_the_same_columns() -> None:
    lines = table([result(OURS, 100), result(SCRAPY, 10)]).splitlines()
    assert len(lines) == 4
    assert len({line.count("|") for line in lines}) == 1


def test_the_same_pages_are_stated() -> None:
    assert "all fetched the same 2 pages" in agreement([result(OURS, 1), result(SCRAPY, 1)])


def test_one_crawler_alone_is_not_called_all() -> None:
    assert (
        agreement([result(OURS, 1), result(OURS, 2)]) == "- manual: ours fetched 2 pages and wrote down each of them."
    )


def test_differing_pages_are_told_with_an_example() -> None:
    other = frozenset({("h", "/"), ("h", "/2"), ("h", "/3")})
    told = agreement([result(OURS, 1), result(SCRAPY, 1, other, written=3)])
    assert "scrapy fetched 2 more than ours (such as /2) and 1 fewer than ours (such as /1)" in told


def test_pages_that_were_fetched_and_not_written_down_are_told() -> None:
    assert "scrapy wrote down 1 fewer" in agreement([result(OURS, 1), result(SCRAPY, 1, written=1)])
