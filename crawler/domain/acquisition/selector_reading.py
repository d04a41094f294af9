"""What a stored page says by the selectors of its category. Bytes in, values out; all of it bounded but the time."""

from collections.abc import Container, Sequence
from typing import Any

from bs4.element import Tag

from crawler.domain.acquisition.page_fields import PageFields, Value
from crawler.domain.acquisition.selected_page import Found, SelectedPage, value_of
from crawler.domain.acquisition.selectors import FieldRule, SelectorSet
from crawler.domain.pages import language
from crawler.domain.pages.charsets import to_utf8
from crawler.domain.pages.element_text import MAX_TEXT, element_text, normalised
from crawler.domain.pages.files import FileKind, file_lines, kind_of
from crawler.domain.pages.main_text import main_text
from crawler.domain.pages.markup_bombs import refuse_bombs
from crawler.domain.pages.parsing import parse_page
from crawler.errors import CrawlerError

MAX_VALUE = 10_000
MAX_VALUES = 200
MAX_OF_FIELDS = 200_000
"""Characters of all fields of a page together: they are handed on in one message."""
MAX_TAGS = 400_000
"""Opening and closing ones. BeautifulSoup takes about a second for each 30,000."""


class PageTooLarge(CrawlerError):
    """The page has too many elements."""

    code = "too_large"


def extract_fields(body: bytes, *, url: str, content_type: str, rules: SelectorSet) -> PageFields:
    """The fields of a page, as a category's selectors name them. Raises UnparsablePage or PageTooLarge."""
    kind = kind_of(content_type, body)
    if kind is FileKind.PDF:
        return _of_pdf(body)
    if kind is not None and rules.is_default:
        return _of_lines(file_lines(kind, body, content_type).texts)
    if rules.is_default:
        return _by_default(body, url, content_type)
    markup, _ = to_utf8(body, content_type)
    if markup.count(b"<") > MAX_TAGS:
        raise PageTooLarge(f"The page has more than {MAX_TAGS // 2:,} elements.")
    refuse_bombs(markup)
    return _selected(SelectedPage(markup), rules)


def _of_pdf(body: bytes) -> PageFields:
    # Here, because few ingest PDFs and everybody would pay for its import.
    from crawler.domain.pages.pdf_text import PdfText  # noqa: PLC0415

    pdf = PdfText(body)
    return PageFields({"title": pdf.title}, pdf.text, language.detect(pdf.text), {}, pdf.is_cut, pdf.pictures)


def _of_lines(lines: Sequence[str]) -> PageFields:
    text = "\n".join(lines)[:MAX_TEXT]
    return PageFields({}, text, language.detect(text), {})


def _by_default(body: bytes, url: str, content_type: str) -> PageFields:
    page = parse_page(body, url=url, content_type=content_type, detect_language=False)
    text = normalised(main_text(to_utf8(body, content_type)[0], page.text))
    said = {"title": page.title, "h1": page.h1, "description": page.meta_description}
    fields: dict[str, Value] = {name: normalised(value)[:MAX_VALUE] if value else None for name, value in said.items()}
    return PageFields(fields, text, language.detect(text, page.declared_language), {})


def _selected(page: SelectedPage, rules: SelectorSet) -> PageFields:
    matches = {f"exclude[{number}]": len(page.find(one)) for number, one in enumerate(rules.exclude)}
    page.drop(rules.exclude)
    included = [page.find(one) for one in rules.include]
    matches |= {f"include[{number}]": len(found) for number, found in enumerate(included)}
    fields: dict[str, Value] = {}
    left = MAX_OF_FIELDS
    for name, rule in rules.fields.items():
        found = page.find(rule)
        matches[f"fields.{name}"] = len(found)
        values = _values(found, rule, left)
        left -= sum(map(len, values))
        fields[name] = values if rule.many else values[0] if values else None
    text = _text([one for found in included for one in found]) if rules.include else element_text(page.soup)
    return PageFields(fields, text, language.detect(text, _declared(page)), matches)


def _values(found: list[Found], rule: FieldRule, left: int) -> list[str]:
    values: list[str] = []
    for one in found:
        if left <= 0 or len(values) == (MAX_VALUES if rule.many else 1):
            break
        if value := value_of(one, rule):
            values.append(value[: min(MAX_VALUE, left)])
            left -= len(values[-1])
    return values


def _text(found: list[Found]) -> str:
    """What two selectors found, or what stands inside another choice, is read once."""
    chosen = {id(one): one for one in found if not isinstance(one, str)}
    within: dict[int, bool] = {}
    outermost: list[Found] = [tag for tag in chosen.values() if not _is_within(tag, chosen, within)]
    parts: list[str] = []
    size = 0
    for one in [*outermost, *(one for one in found if isinstance(one, str))]:
        if size <= MAX_TEXT:
            parts.append(one if isinstance(one, str) else element_text(one))
            size += len(parts[-1])
    return normalised("\n".join(parts))


def _is_within(tag: Tag, chosen: Container[int], within: dict[int, bool]) -> bool:
    """Whether it stands inside another choice. `within` has what was found out so far: deep pages are climbed once."""
    passed: list[int] = []
    found = False
    for parent in tag.parents:
        number = id(parent)
        if number in chosen or number in within:
            found = number in chosen or within[number]
            break
        passed.append(number)
    within.update(dict.fromkeys(passed, found))
    return found


def _declared(page: SelectedPage) -> str | None:
    root: Any = page.soup.find("html")
    said = root.get("lang") if root is not None else None
    return said if isinstance(said, str) else None
