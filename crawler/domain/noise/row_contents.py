"""What stands beside the dates of a row: it belongs to the day, and moves with it or not."""

from collections.abc import Iterator, Sequence
from datetime import date

from crawler.domain.diffs.page_blocks import Block, PageBlocks
from crawler.domain.noise.dated_rows import Row

MOST_BELOW = 2_000
"""Lines below the last date of a row that are compared."""
MOST_BESIDE = 400
"""Lines before and after a row of dates that may say something of each of them."""


def days_with_other_contents(old: Row, new: Row, pages: tuple[PageBlocks, PageBlocks]) -> set[date]:
    """Days that stand in both rows with something else beside them: what stayed where it was is that of another day."""
    before, after = old.numbers(), new.numbers()
    both = before.keys() & after.keys()
    if not both:
        return set()
    columns = [_columns(page, row) for page, row in zip(pages, (old, new), strict=True)]
    found = set()
    for day in both:
        lines = old.lines[before[day]], new.lines[after[day]]
        following = _following(pages[0], old, before[day]), _following(pages[1], new, after[day])
        is_last = before[day] + 1 == len(old.lines) or after[day] + 1 == len(new.lines)
        least = min(map(len, following)) if is_last else None
        below = [column.get(line.block.text) for column, line in zip(columns, lines, strict=True)]
        if following[0][:least] != following[1][:least] or below[0] != below[1]:
            found.add(day)
    return found


def states_moved_unseen(old: Row, new: Row, pages: tuple[PageBlocks, PageBlocks]) -> bool:
    """Whether the words of a few (`free`, `taken`) stand where they stood, in a row of their own, so that they are
    those of other days now. Lines alone do not show that: the first date went, and one came at the end."""
    before, after = old.numbers(), new.numbers()
    both = before.keys() & after.keys()
    rows = [_parallel_rows(page, row) for page, row in zip(pages, (old, new), strict=True)]
    for key, states in rows[0].items():
        if rows[1].get(key) == states and any(states[before[day]] != states[after[day]] for day in both):
            return True
    return False


def _parallel_rows(page: PageBlocks, row: Row) -> dict[tuple[int, str], list[str]]:
    """Lines right before and after a row of dates, one for each of them, some of which say the same."""
    found: dict[tuple[int, str], list[str]] = {}
    first, last = row.lines[0], row.lines[-1]
    if last.at - first.at >= len(row.lines):
        return found  # something stands between the dates
    column = first.block.column
    for step, start in ((1, last.at + 1), (-1, first.at - 1)):
        end = max(min(start + step * MOST_BESIDE, len(page)), -1)
        for number, blocks in enumerate(_runs([page.block(at) for at in range(start, end, step)]), 1):
            if (column is None and number > 1) or (column is not None and blocks[0].table != first.block.table):
                break
            states = [one.text for one in blocks if column is None or (one.column or 0) >= column][::step]
            if len(states) == len(row.lines) and len(set(states)) < len(states):
                found[step * number, blocks[0].row] = states
    return found


def _runs(blocks: Sequence[Block]) -> Iterator[list[Block]]:
    """Lines of one row each, or at one place."""
    run: list[Block] = []
    for block in blocks:
        if run and not _goes_on(run[-1], block):
            yield run
            run = []
        run.append(block)
    if run:
        yield run


def _goes_on(before: Block, block: Block) -> bool:
    if before.column is None or block.column is None:
        return before.column is block.column and before.place == block.place
    return before.table == block.table and abs(block.column - before.column) == 1


def _following(page: PageBlocks, row: Row, number: int) -> list[str]:
    """The lines after a date, up to the next one of its row. Of the last nobody knows where they end."""
    start = row.lines[number].at + 1
    end = row.lines[number + 1].at if number + 1 < len(row.lines) else start + MOST_BELOW
    return page.lines[start:end]


def _columns(page: PageBlocks, row: Row) -> dict[str, list[str]]:
    """What stands below these dates, if they are the heads of columns."""
    found: dict[str, list[str]] = {}
    if all(line.block.column is None for line in row.lines):
        return found
    heads = {line.block.text for line in row.lines}
    for at in range(len(page)):
        block = page.block(at)
        if block.heading in heads:
            found.setdefault(block.heading, []).append(block.text)
    return found
