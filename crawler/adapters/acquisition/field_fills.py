"""How often fields have a value, counted in the transaction that writes the extraction.

When a field has dropped: `judge_fill` in `domain/acquisition/field_fill.py`.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby

from sqlalchemy import Connection, Engine, text

from crawler.adapters.postgres.database import transaction
from crawler.domain.acquisition.field_fill import TRAILING, WINDOW, FieldFill, Window, judge_fill

NO_CATEGORY = ""
MOST_CATEGORIES = 500


def count_fills(db: Connection, category: str | None, fills: Mapping[str, bool]) -> None:
    """The category's counter first: whoever counts for the same one waits here, and nowhere in a circle."""
    named = {"category": category or NO_CATEGORY}
    number = (int(db.execute(text(_NEXT), named).scalar_one()) - 1) // WINDOW
    values = {"fields": list(fills), "filled": [int(value) for value in fills.values()], "number": number}
    db.execute(text(_COUNT), {**named, **values})


class FieldFills:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def of(self, categories: Iterable[str] | None = None) -> dict[str, list[FieldFill]]:
        """How often each field was filled, by category ('' is none); of all categories if none is named."""
        with transaction(self._engine) as db:
            names = list(db.execute(text(_CATEGORIES), {"most": MOST_CATEGORIES}).scalars())
            asked = names if categories is None else sorted(set(categories))
            rows = db.execute(text(_WINDOWS), {"categories": asked, "windows": TRAILING + 2}).all()
        found: dict[str, list[FieldFill]] = {name: [] for name in asked}
        for (category, field), group in groupby(rows, key=lambda row: (row.category, row.field)):
            windows = [
                Window(number=r.number, filled=r.filled, total=r.total, began_at=r.began_at, ended_at=r.ended_at)
                for r in group
            ]
            found[category].append(judge_fill(field, windows))
        return found

    def counts(self) -> dict[str, int]:
        """Extractions of each category so far."""
        with transaction(self._engine) as db:
            return {row.category: int(row.extractions) for row in db.execute(text(_COUNTS), {"most": MOST_CATEGORIES})}

    def take_unreported(self, category: str, fields: Iterable[str]) -> list[str]:
        """The fields that have not been reported in this window; now they are."""
        with transaction(self._engine) as db:
            rows = db.execute(text(_ALARM), {"category": category, "fields": sorted(fields)})
            return sorted(rows.scalars())

    def forget(self, category: str) -> None:
        with transaction(self._engine) as db:
            for table in ("field_fills", "extraction_counts"):
                db.execute(text(f"DELETE FROM {table} WHERE category = :category"), {"category": category})  # noqa: S608


_NEXT = """
INSERT INTO extraction_counts AS c (category, extractions) VALUES (:category, 1)
ON CONFLICT (category) DO UPDATE SET extractions = c.extractions + 1 RETURNING extractions
"""
_COUNT = """
INSERT INTO field_fills AS f (category, field, number, filled, total)
SELECT :category, v.field, :number, v.filled, 1
FROM unnest(CAST(:fields AS text[]), CAST(:filled AS integer[])) AS v(field, filled) ORDER BY v.field
ON CONFLICT (category, field, number)
DO UPDATE SET filled = f.filled + excluded.filled, total = f.total + 1, ended_at = now()
"""
_CATEGORIES = "SELECT category FROM extraction_counts ORDER BY category LIMIT :most"
_COUNTS = "SELECT category, extractions FROM extraction_counts ORDER BY category LIMIT :most"
# The newest so many windows of the category: a field that is no longer read is not shown.
_WINDOWS = """
SELECT f.* FROM extraction_counts c
JOIN field_fills f ON f.category = c.category
    AND f.number > (SELECT max(n.number) FROM field_fills n WHERE n.category = c.category) - :windows
WHERE c.category = ANY(:categories)
ORDER BY f.category, f.field, f.number
"""
_ALARM = """
UPDATE field_fills f SET alarmed_at = now()
WHERE f.category = :category AND f.field = ANY(:fields) AND f.alarmed_at IS NULL
  AND f.number = (SELECT max(n.number) FROM field_fills n WHERE n.category = f.category AND n.field = f.field)
RETURNING f.field
"""
