"""What selectors of people name: CSS and XPath on one tree."""

from selectolax.lexbor import LexborNode

from crawler.domain.pages.named_parts import NamedParts
from crawler.domain.pages.nodes import parse

PAGE = b"""<!doctype html><html><body><main><h1>Lamp</h1><p class=price>99 <b>\xe2\x82\xac</b></p>
<o:p odd@x=1>odd</o:p><ul><li>a</li><li>b</li></ul></main></body></html>"""


def texts(selector: str) -> list[str]:
    found = NamedParts(parse(PAGE)).find(selector)
    return [one if isinstance(one, str) else one.text() for one in found]


def test_css_and_xpath_name_the_same_elements() -> None:
    assert texts(".price") == texts("xpath://p[@class='price']") == ["99 €"]
    assert texts("li") == texts("xpath://ul/li") == ["a", "b"]


def test_an_xpath_may_name_texts_and_values() -> None:
    assert texts("xpath:count(//li)") == ["2"]
    assert texts("xpath://p/text()") == ["99 "]
    assert texts("xpath://p/@class") == ["price"]
    assert texts("xpath:boolean(//h1)") == ["true"]


def test_odd_markup_is_mirrored() -> None:
    (found,) = NamedParts(parse(PAGE)).elements("xpath://*[text()='odd']")
    assert isinstance(found, LexborNode)


def test_a_deep_page_is_mirrored_without_recursion() -> None:
    page = b"<div>" * 400 + b"<i>x</i>"
    (found,) = NamedParts(parse(page)).elements("xpath://i")
    assert found.text() == "x"
