"""Places that the server leaves empty, and that say by their markup that scripts are to fill them."""

import time

import pytest

from crawler.domain.pages.still_loading import Signs, find_signs, may_be_loading

PROSE = "".join(f"<p>Line {n}: the harbour master keeps a book of all boats and their owners.</p>" for n in range(30))


def places(part: str, script: str = "fill()") -> tuple[str, ...]:
    """As a page is looked at: quickly, then thoroughly."""
    body = f"<body><main><h1>Boats</h1>{PROSE}{part}{PROSE}</main><script>{script}</script></body>".encode()
    signs = find_signs(body, "text/html; charset=utf-8")
    assert signs == Signs(places=signs.places)
    assert not signs.places or may_be_loading(body)
    return signs.places


PLACES = {
    "a name in braces": ("<p>Price: {{ boat.price }}</p>", "{{ boat.price }}"),
    "one in a heading": ("<h2>{{title | upper}}</h2>", "{{title | upper}}"),
    "an element of the page's own": ("<boat-price boat=anna></boat-price>", "boat-price"),
    "one without a word": ("<p>Price: <boat-price>\n</boat-price></p>", "boat-price"),
    "an attribute of its own": ("<p>Price: <b x-text=price></b></p>", "b[x-text]"),
    "one that loads": ("<div hx-get=/boats hx-trigger=load></div>", "div[hx-get]"),
    "one with a colon": ("<span :text='price' class=x></span>", "span[:text]"),
    "a list with a name": ("<ul id=boats></ul>", "ul#boats"),
    "a table's rows": ("<table><thead><tr><th>Boat</th></tr></thead><tbody id=rows></tbody></table>", "tbody#rows"),
    "a list with data": ("<ol class=x data-source=/boats></ol>", "ol#"),
    "a component": ("""<boat-talk props='{"boat": 4}'><h2>Talk</h2></boat-talk>""", "Talk boat-talk[props]"),
    "one with the name of a value": (
        "<div data-props='[[&quot;boat&quot;,4]]'><p>Left: </p></div>",
        "Left: div[data-props]",
    ),
    "two marks": ("<p class=price><!--boat-part--><!--/boat-part--></p>", "p<!--boat-part-->"),
    "two marks in a declared shadow root": (
        "<boat-card><template shadowrootmode=open><h2>Anna</h2><b> <!--$--> <!--/--> </b></template>Words</boat-card>",
        "b<!--$-->",
    ),
    "a list between marks": ("<ul><!--[--><!--]--></ul>", "ul<!--[-->"),
    "a box between marks": ("<div class=offers><!--[!--><!--]--></div>", "div<!--[!-->"),
    "text with data": ("<p>Price: <span class=price data-sku=4></span></p>", "span[data]"),
}


@pytest.mark.parametrize("name", PLACES)
def test_an_empty_place_that_is_named_is_one(name: str) -> None:
    markup, expected = PLACES[name]
    assert places(markup) == (expected,)


@pytest.mark.parametrize(
    "script",
    [
        "document.getElementById('price').textContent = 1",
        'document.querySelector("#price").innerHTML = 1',
        "$(`#price`).load('/price')",
        "$('#price span').text(1)",
        "price.innerHTML = 1",
    ],
)
def test_a_place_is_named_by_a_script_of_the_page(script: str) -> None:
    assert places("<p>Price: <span id=price></span></p>", script) == ("#price",)
    assert places("<div id=price></div>", script) == ("#price",)
    assert places("<p>Price: <span id=price>119</span></p>", script) == ()


def test_each_place_counts() -> None:
    assert places("<boat-price></boat-price><b x-text=a></b><boat-price></boat-price>") == (
        "boat-price", "b[x-text]", "boat-price",
    )  # fmt: skip


NO_PLACES = {
    "with text": "<boat-price>119</boat-price><b x-text=price>119</b><ul id=boats><li>Anna</li></ul>",
    "a component with words": f"<boat-list props='{{\"sort\": 1}}'>{PROSE}</boat-list>",
    "what is no data": "<div style='{a}'><p>Words</p></div><p class='[x]'>Words</p>",
    "without a name": "<ul class=menu></ul><span class=icon></span><div class=clear></div><td></td>",
    "one mark": "<p><!----></p><div><!--v-if--></div>",
    "notes": "<p><!-- offers begin --><!-- offers end --></p><div><!--offers of 2024--><!--/offers--></div>",
    "marks around words": "<p><!--part-->Words<!--/part--></p><p><!--a--><b>Words</b><!--/a--></p>",
    "a mark for links": "<span id=more-12></span><a id=top></a><span id=top></span>",
    "a box that nobody names": "<div id=root></div><div data-x=1></div>",
    "marked for styles alone": "<span class=x data-v-7ba5bd90></span>",
    "an icon": "<i data-icon=boat></i><svg data-x=1></svg><img data-src=/x.png>",
    "hidden": "<div hidden><boat-price></boat-price></div><p style='display:none'>{{ price }}</p>",
    "a dialog": "<dialog><ul id=boats></ul></dialog><div role=dialog><boat-list></boat-list></div>",
    "in a layer": "<div class=cookie-overlay><p id=words data-x=1></p></div>",
    "a template": "<template><p>{{ price }}</p><boat-price></boat-price></template>",
    "code": "<pre>{{ price }}</pre><p><code>{{ price }}</code></p>",
    "a script": "<script>const a = '<boat-price></boat-price>'; b = `{{ price }}`</script>",
    "a control": "<button><x-icon></x-icon></button><select id=boats></select><textarea x-model=a></textarea>",
    "described": "<p aria-live=polite></p><p xml:lang=en></p>",
    "braces that name nothing": "<p>{{}} and {{ }} and { price } and {{ 'price' }}</p>",
}


@pytest.mark.parametrize("name", NO_PLACES)
def test_what_only_looks_like_a_place_is_none(name: str) -> None:
    assert places(NO_PLACES[name], "const roots = 1") == ()


def test_a_box_outside_of_the_content_is_none() -> None:
    page = "<body><div id=banner></div><main><p>Words</p></main><script>banner.innerHTML = 1</script>"
    assert find_signs(page.encode(), "text/html") == Signs()


def test_usual_pages_are_not_parsed_again() -> None:
    page = f"<head><meta http-equiv=x></head><body><a href=/ data-x=1></a>{PROSE}<div class=x></div><i class=y></i>"
    assert not may_be_loading(page.encode())


@pytest.mark.parametrize(
    "hostile",
    [
        "<x-a></x-a>" * 30_000,
        "<x-a>" * 5_000,
        "<span id=abc></span>" * 20_000,
        "{{ a" * 60_000,
        "<b x-" + "a-" * 100_000 + "></b>",
        "<b " + "a " * 100_000 + "></b>",
        "<script>" + "#abc" * 60_000 + "</script>" + "<span id=abcd></span>" * 5_000,
        "<x-a>" + " " * 200_000 + "</x-a>",
        """<x-a b='{"c": 1}'> """ * 5_000,
        """<x-a b='{"c": 1}'>""" + "<i></i>" * 30_000,
    ],
)
def test_hostile_pages_cost_no_more_than_their_length(hostile: str) -> None:
    body = f"<body>{hostile}".encode()
    before = time.process_time()
    may_be_loading(body)
    find_signs(body, "")
    assert time.process_time() - before < 2
