"""Categories: which selectors read their pages, how well that goes, and what others would read.

The form of selectors: `selectors.py` in `domain/acquisition`; their grammar: `selector_syntax.py` there, injected as
`check`; when a field has dropped: `field_fill.py` there.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol
from uuid import UUID

from crawler.domain.acquisition.categories import Category, CategoryInUse, CategoryShown, DryRun, checked_name
from crawler.domain.acquisition.entries import entry_key
from crawler.domain.acquisition.extractions import ReadPage, problem_with
from crawler.domain.acquisition.field_fill import FieldFill
from crawler.domain.acquisition.page_fields import ExtractionFailed, PageFields, ProcessLost, StoredContent
from crawler.domain.acquisition.selectors import DEFAULT, InvalidSelector, SelectorSet, read_selectors
from crawler.domain.pages.files import is_pdf
from crawler.domain.urls.url import Unusable, read
from crawler.errors import Invalid, NotFound
from crawler.handlers.acquisition.extract_entries import Extract

LONGEST_TRIAL_SECONDS = 10.0
"""Somebody waits for it."""
TRIED_TEXT = 20_000
"""Characters of a page's text that are shown."""
_ROW = "<div class='row'><h2>A title</h2><p>Some <b>words</b> and <a href='/a'>a link</a>.</p><ul><li>1<li>2</ul></div>"
_SAMPLE = StoredContent("https://example.org/", "text/html; charset=utf-8", f"<main>{_ROW * 300}</main>".encode())
"""A page of 2,000 elements, as many have: what takes long here is of no use."""


class Store(Protocol):
    def get(self, name: str) -> Category: ...
    def find(self, name: str) -> Category | None: ...
    def list_all(self) -> list[Category]: ...
    def put(self, name: str, selectors: SelectorSet) -> Category: ...
    def delete(self, name: str) -> None: ...
    def unfinished(self, name: str) -> int: ...
    def entries(self, names: Iterable[str] | None = None) -> dict[str, int]: ...
    def page_of_entry(self, entry_id: int) -> UUID | None: ...
    def page_of_key(self, key: str) -> UUID | None: ...
    def page_at(self, urls: Sequence[str]) -> UUID | None: ...


class Fills(Protocol):
    def of(self, categories: Iterable[str] | None = None) -> dict[str, list[FieldFill]]: ...
    def counts(self) -> dict[str, int]: ...
    def forget(self, category: str) -> None: ...


class Extractor(Protocol):
    def __call__(self, seconds: float) -> AbstractContextManager[Extract]: ...


class ManageCategories:
    def __init__(
        self,
        categories: Store,
        fills: Fills,
        find_page: Callable[[UUID], ReadPage | None],
        extractor: Extractor,
        check: Callable[[SelectorSet], None],
        *,
        seconds: float,
        trial_seconds: float = 3.0,
    ) -> None:
        self._categories = categories
        self._fills = fills
        self._find_page = find_page
        self._extractor = extractor
        self._check = check
        self._seconds = min(seconds, LONGEST_TRIAL_SECONDS)
        self._trial_seconds = trial_seconds

    def list_all(self) -> list[CategoryShown]:
        """All categories: those that are defined, then those that entries only name."""
        defined = {category.name: category for category in self._categories.list_all()}
        entries, fills, made = self._categories.entries(), self._fills.of(), self._fills.counts()
        names = [*sorted(defined), *sorted({*entries, *made} - set(defined))]
        return [_shown(name, defined.get(name), entries, fills, made) for name in names]

    def show(self, name: str) -> CategoryShown:
        category = self._categories.get(checked_name(name))
        entries = self._categories.entries([category.name])
        return _shown(category.name, category, entries, self._fills.of([category.name]), self._fills.counts())

    def field_names(self, name: str | None) -> list[str]:
        """Columns of an export: those of the category, if it is defined."""
        category = self._categories.find(name) if name else None
        return list(category.selectors.fields) if category else []

    def set(self, name: str, selectors: Any) -> CategoryShown:
        """Checked in three ways: their form, their grammar, and that they end in time on an ordinary page."""
        name, rules = checked_name(name), self._checked(selectors)
        if not rules.is_default:
            self._refuse_slow(rules)
        return self.show(self._categories.put(name, rules).name)

    def delete(self, name: str, *, force: bool = False) -> None:
        """What was extracted stays; entries that name it are read by the default extractor."""
        name = self._categories.get(checked_name(name)).name
        if not force and (unfinished := self._categories.unfinished(name)):
            many = "more than 10,000" if unfinished > 10_000 else f"{unfinished:,}"
            raise CategoryInUse(
                f"{many} entries of the category {name!r} are still to be read, and would be by the default "
                "extractor; `--force` (or force=true) if that is meant."
            )
        self._categories.delete(name)
        self._fills.forget(name)

    def try_on(
        self,
        name: str,
        *,
        selectors: Any = None,
        page_id: UUID | None = None,
        url: str | None = None,
        queue_id: int | None = None,
    ) -> DryRun:
        """What a stored page says by the category's selectors, or by some that are not saved."""
        name, rules = checked_name(name), self._checked(selectors) if selectors is not None else None
        if rules is None:
            category = self._categories.find(name)
            rules = category.selectors if category else DEFAULT
        page = self._page(page_id, url, queue_id)
        content = StoredContent(page.url, page.content_type, page.body)
        with self._extractor(self._seconds) as extract:
            began = time.monotonic()
            found = extract(content, rules)
        return _trial(name, page, rules, found, time.monotonic() - began)

    def _checked(self, selectors: Any) -> SelectorSet:
        rules = selectors if isinstance(selectors, SelectorSet) else read_selectors(selectors)
        self._check(rules)
        return rules

    def _refuse_slow(self, rules: SelectorSet) -> None:
        with self._extractor(self._trial_seconds) as extract:
            found = extract(_SAMPLE, rules)
        if isinstance(found, ExtractionFailed) and found.code == "timeout":
            raise InvalidSelector(
                f"These selectors take more than {self._trial_seconds:g} s on a page of 2,000 elements; simplify them."
            )
        if isinstance(found, ExtractionFailed):
            raise InvalidSelector(f"These selectors cannot be used. {found.sentence}")

    def _page(self, page_id: UUID | None, url: str | None, queue_id: int | None) -> ReadPage:
        if sum(given is not None for given in (page_id, url, queue_id)) != 1:
            raise Invalid("Say which page is meant: by its id, its URL, or a queue entry.")
        found = page_id
        if url is not None:
            found = self._page_of(url)
        elif queue_id is not None:
            found = self._categories.page_of_entry(queue_id)
        page = self._find_page(found) if found else None
        if page is None:
            which = f"page {page_id}" if page_id else f"entry {queue_id}" if queue_id is not None else "this URL"
            raise NotFound(f"Nothing is stored of {which}; add it to the queue and run that, or crawl it.")
        return page

    def _page_of(self, url: str) -> UUID | None:
        parsed = read(url)
        if isinstance(parsed, Unusable):
            raise Invalid(parsed.rule)
        key = entry_key(parsed)
        return self._categories.page_of_key(key) or self._categories.page_at([f"https://{key}", f"http://{key}"])


def _shown(
    name: str,
    category: Category | None,
    entries: dict[str, int],
    fills: dict[str, list[FieldFill]],
    made: dict[str, int],
) -> CategoryShown:
    selectors, fill = category.selectors if category else DEFAULT, fills.get(name, [])
    return CategoryShown(
        name=name,
        defined=category is not None,
        selectors=selectors,
        revision=selectors.revision,
        entries=entries.get(name, 0),
        extractions=made.get(name, 0),
        fill=fill,
        alarms=[one.field for one in fill if one.dropped],
        created_at=category.created_at if category else None,
        updated_at=category.updated_at if category else None,
    )


def _trial(
    name: str, page: ReadPage, rules: SelectorSet, found: PageFields | ExtractionFailed | ProcessLost, seconds: float
) -> DryRun:
    if isinstance(found, ProcessLost):
        found = ExtractionFailed("crash", "The page took the extractor down.")
    problem = (
        found.words
        if isinstance(found, ExtractionFailed)
        else problem_with(found, rules, by_selectors=not is_pdf(page.content_type, page.body))
    )
    read_ = found if isinstance(found, PageFields) else PageFields({}, "", None, {})
    return DryRun(
        page_id=page.page_id,
        url=page.url,
        category=name,
        revision=rules.revision,
        fields=dict(read_.fields),
        text=read_.text[:TRIED_TEXT],
        language=read_.language,
        matches=read_.matches,
        problem=problem,
        seconds=round(seconds, 3),
    )
