"""A page in the forms that a caller wants: all of the same part of it."""

import pytest
from pydantic import ValidationError

from crawler.domain.markdown.page_formats import PageFormat, Wanted, shape

URL = "https://example.org/shop/"
PAGE = b"""<!doctype html><html lang=en><head><title>Kettles</title><base href="/goods/">
<meta name=description content="All our kettles"><meta property="og:title" content="Kettles!"></head><body>
<nav><a href="/">Home</a></nav><script>track()</script>
<main><h1>Kettles</h1><p>Two <b>good</b> ones.</p>
<ul class=list><li class=item><a href="a">A</a></li><li class="item sold"><a href="b#top">B</a></li></ul></main>
<footer>Imprint</footer></body></html>"""
ALL = tuple(form for form in PageFormat if form is not PageFormat.SCREENSHOT)


def shaped(page: bytes = PAGE, **wanted: object) -> dict[str, object]:
    asked = Wanted.model_validate({"formats": ALL, **wanted})
    return shape(page, URL, "text/html; charset=utf-8", None, asked)._asdict()


def test_the_main_content_in_every_form() -> None:
    found = shaped()
    a, b = "https://example.org/goods/a", "https://example.org/goods/b"
    assert found["markdown"] == f"# Kettles\n\nTwo **good** ones.\n\n- [A]({a})\n- [B]({b}#top)"
    assert found["links"] == [a, b]
    assert found["text"] == "Kettles\nTwo good ones.\nA\nB"
    html = str(found["html"])
    assert "<h1>Kettles</h1>" in html
    assert not any(word in html for word in ("Home", "track", "Imprint"))
    assert found["raw_html"] == PAGE.decode()
    assert found["meta"] == {"description": "All our kettles", "og:title": "Kettles!"}


def test_the_whole_page_when_asked_for() -> None:
    found = shaped(only_main_content=False)
    assert "[Home](https://example.org/)" in str(found["markdown"])
    assert str(found["text"]).startswith("Home\n")
    assert str(found["text"]).endswith("\nImprint")
    assert "track" not in str(found["html"])


def test_selectors_choose_and_leave_out() -> None:
    found = shaped(include_selectors=(".list", ".item"), exclude_selectors=(".sold",))
    assert found["markdown"] == "- [A](https://example.org/goods/a)"
    assert found["links"] == ["https://example.org/goods/a"]
    assert shaped(include_selectors=("footer",))["text"] == "Imprint"
    assert shaped(include_selectors=(".nothing",))["markdown"] == ""


def test_what_stands_in_what_is_removed_is_removed_once() -> None:
    page = b"<div class=x><div class=x><div class=x>in</div></div></div><p>out</p>"
    assert shaped(page, exclude_selectors=(".x",))["text"] == "out"
    assert shaped(page, exclude_selectors=("*",))["text"] == ""


def test_only_what_is_wanted_is_made() -> None:
    found = shaped(formats=("links",))
    assert [name for name, value in found.items() if value is not None] == ["links"]


def test_a_file_is_its_text() -> None:
    asked = Wanted(formats=ALL)
    found = shape(b'{"price": 3}', "https://example.org/a.json", "application/json", None, asked)
    assert "3" in str(found.markdown)
    assert found.raw_html == '{"price": 3}'
    assert found.links == []


@pytest.mark.parametrize("selector", ["", "p:contains(x)", "a" * 600, "p::before", ">", "p:has(p:has(a))"])
def test_selectors_that_cannot_be_used_are_refused(selector: str) -> None:
    with pytest.raises(ValidationError):
        Wanted(include_selectors=(selector,))


def test_there_is_a_limit_to_links_and_meta() -> None:
    page = b"".join(b"<meta name=m%d content=x><a href=/p%d>l</a>" % (n, n) for n in range(6000))
    found = shaped(page)
    assert len(found["links"]) == 5000  # type: ignore[arg-type]
    assert len(found["meta"]) == 100  # type: ignore[arg-type]
