"""Pages that say themselves that a part of them is still to come."""

import time

import pytest

from crawler.domain.pages.loading_words import says_loading
from crawler.domain.pages.still_loading import LONGEST_SIGN, Signs, find_signs, may_be_loading

PROSE = "".join(f"<p>Line {n}: the harbour master keeps a book of all boats and their owners.</p>" for n in range(30))
RUN = "<script src=/app.js></script>"


def page(part: str) -> bytes:
    return f"<body><main><h1>Boats</h1>{PROSE}<div id=boats>{part}</div>{PROSE}</main>{RUN}</body>".encode()


def sign(body: bytes) -> str:
    """As a page is looked at: quickly, then thoroughly."""
    return find_signs(body, "text/html; charset=utf-8").first if may_be_loading(body) else ""


SIGNS = {
    "data that is asked for": ("<link rel=preload as=fetch href=/data crossorigin>", "preload /data"),
    "an image that turns": ("<img src='/static/ajax-loader.gif' alt=''>", "ajax-loader.gif"),
    "one of another name": ("<img src=https://cdn.test/i/Loading_icon.gif?v=2>", "Loading_icon.gif"),
    "one below a heading": ("<h2>Newest boats</h2><p><img src=spinner.svg></p>", "spinner.svg"),
    "a busy list": ("<ul aria-busy=true></ul>", "aria-busy"),
    "a busy table with a head": (
        "<table aria-busy='true'><thead><tr><th>Name<th>Berth</thead><tbody></table>", "aria-busy",
    ),
    "a busy box that says so": ("<div aria-busy=TRUE><span>Loading boats…</span></div>", "aria-busy"),
    "a spinner of a framework": (
        "<div class='spinner-border' role=status><span class=sr-only>Loading...</span></div>", "spinner-border",
    ),
    "one behind its name": ("<p>Price: <span class=spinner></span></p>", "spinner"),
    "one behind a bold name": ("<p><b>Price：</b> <img src=/ajax-loader.gif></p>", "ajax-loader.gif"),
    "an icon": ("<div><i class='fa fa-spinner fa-spin' aria-hidden=true></i></div>", "fa-spinner"),
    "a drawing": ("<svg class=Spinner_root__x1><circle r=4></circle></svg>", "Spinner_root__x1"),
    "a skeleton": ("<ul><li class=boat-skeleton></li><li class=boat-skeleton></li></ul>", "boat-skeleton"),
    "a class of its own": ("<div class=\"boats isLoading\"></div>", "isLoading"),
    "a line": ("<p>Loading…</p>", "Loading…"),
    "a line with dots of their own": ("<p>Loading<span>.</span><span>.</span><span>.</span></p>", "Loading"),
    "a line that names what comes": ("<p><em>Loading the latest boats...</em></p>", "Loading the latest boats..."),
    "an entry": ("<ul><li>Please wait…</li></ul>", "Please wait…"),
    "a row": ("<table><tr><th>Name</th></tr><tr><td colspan=3>Chargement en cours…</td></tr></table>",
              "Chargement en cours…"),
    "German": ("<div>Wird geladen …</div>", "Wird geladen …"),
    "Russian": ("<div>Загрузка...</div>", "Загрузка..."),
    "Japanese": ("<div>読み込み中</div>", "読み込み中"),
    "Chinese": ("<div>加载中…</div>", "加载中…"),
}  # fmt: skip


@pytest.mark.parametrize("name", SIGNS)
def test_a_sign_in_the_place_of_content_is_one(name: str) -> None:
    markup, expected = SIGNS[name]
    assert sign(page(markup)) == expected


IN_THE_PAGE = {
    "an image between paragraphs": "<p>Before.</p><img src=/loader.gif><p>After.</p>",
    "a block between paragraphs": "<p>Before.</p><div class=spinner></div><p>After.</p>",
    "a line between paragraphs": "<p>Before.</p>Loading…<p>After.</p>",
    "an image below a heading": "<section><h2>Boats</h2><img src=/loader.gif></section>",
}


@pytest.mark.parametrize("name", IN_THE_PAGE)
def test_beside_blocks_of_text_a_sign_has_a_line_of_its_own(name: str) -> None:
    assert sign(f"<body>{PROSE}{IN_THE_PAGE[name]}{PROSE}{RUN}".encode())


NO_SIGNS = {
    "an image that is loaded late": "<img loading=\"lazy\" src=boat.jpg>",
    "one that stands for another": "<img src=/loading.gif data-src=/boat.jpg>",
    "one of a class for that": "<img class=lazyload src=/loader.gif>",
    "a photograph of a loader": "<img src=/wheel-loader.jpg>",
    "hidden": "<div hidden><img src=/loader.gif></div>",
    "hidden itself": "<img src=/loader.gif style='width: 3px; display : none'>",
    "invisible": "<div style=visibility:hidden><p><i class=spinner></i></p></div>",
    "hidden by a class": "<div class='spinner d-none'></div>",
    "a template": "<template><p>Loading…</p><div aria-busy=true></div></template>",
    "for those without scripts": "<noscript><img src=/loader.gif></noscript>",
    "a dialog": "<dialog><div class=spinner></div></dialog><div role=dialog><p>Loading…</p></div>",
    "a button": "<button><span class=spinner></span>Loading…</button>",
    "a field of a form": "<div><input name=q><span class=loader></span></div><select><option>Loading…</select>",
    "beside a field": "<form><input name=q><div class=spinner></div></form>",
    "a number field": "<span class=ui-number-spinner><input value=1></span>",
    "within a sentence": "<p>Boats are <i class=spinner></i> still in the harbour.</p>",
    "words within a sentence": "<p>The boat is <b>loading</b>. Please wait here.</p>",
    "a sentence": "<p>Loading and unloading is allowed at the quay from nine to five only…</p>",
    "other text in the place": "<div class=loading><p>Anna, a yawl of 1923</p></div>",
    "busy, with text": "<div aria-busy=true>Anna, a yawl of 1923</div>",
    "not busy": "<div aria-busy=false></div>",
    "an icon of a card": "<div class=card><i class=icon-loader></i><p>We load your boat.</p></div>",
    "a heading": "<h2>Loading</h2><p>By crane.</p>",
    "a heading of a table": "<table><tr><th>Loading</th><td>4 t</td></tr></table>",
    "a cell": "<table><tr><td>Loading</td><td>4 t</td></tr></table>",
    "an entry of a menu": "<ul><li><a href=/loading>Loading</a></li><li>Loading</li></ul>",
    "downloads": "<div class=downloader></div><div class=uploader></div><p>Download</p><p>Upload…</p>",
    "a class for images": "<div class=lazy-loading></div><div class=image-loader></div>",
    "over the whole page": "<div class=loading-overlay></div><div id=x class=preloader></div>",
    "in a layer": "<div id=preloader><div><i class=loader></i></div></div><div class=cart-drawer><p>Loading…</p></div>",
    "in a script": "<script>show('<div class=spinner></div>', 'ajax-loader.gif')</script>",
    "in a style": "<style>.spinner > .loader { color: red } .skeleton {}</style>",
    "code": "<pre>Loading...</pre><p><code>Loading...</code></p>",
    "nothing": "",
}  # fmt: skip


@pytest.mark.parametrize("name", NO_SIGNS)
def test_what_only_looks_like_a_sign_is_none(name: str) -> None:
    body = page(NO_SIGNS[name])
    assert find_signs(body, "text/html; charset=utf-8") == Signs()
    assert sign(body) == ""


@pytest.mark.parametrize(
    "line",
    ["Loading", "LOADING...", "loading …", "Loading comments…", "Bitte warten", "Cargando...", "Caricamento in corso…",
     "Carregando", "Even geduld…", "Ładowanie...", "Yükleniyor…", "로딩 중...", "Laden…", "Now loading"],
)  # fmt: skip
def test_lines_that_say_it(line: str) -> None:
    assert says_loading(line)
    assert may_be_loading(f"<h1>Boats</h1><p>{line}</p>more".encode())


@pytest.mark.parametrize(
    "line",
    ["", "…", "Laden", "Loading docks", "Loading bay 4 is closed.", "Downloading…", "Uploading…", "Lazy loading",
     "Please wait for the ferry at the quay…", "Read more…", "Loading " + "very " * 9 + "slowly…"],
)  # fmt: skip
def test_lines_that_say_something_else(line: str) -> None:
    assert not says_loading(line)


def test_what_is_hit_in_scripts_and_styles_alone_is_not_parsed_again() -> None:
    assert not may_be_loading(page("<script>var spinner = loader || skeleton</script><style>.loader {}</style>"))
    assert not may_be_loading(page("<script src=/webfontloader.js></script><link href=/loader.css rel=stylesheet>"))
    assert may_be_loading(page("<i class=spinner></i>"))


def test_a_sign_is_kept_short_and_read_in_the_pages_charset() -> None:
    assert len(sign(page(f"<div class=spinner-{'x' * 300}></div>"))) == LONGEST_SIGN
    assert find_signs("<p>Lädt…</p>".encode("latin-1", "replace"), "text/html; charset=latin-1").first == ""
    assert find_signs("<p>Lädt...</p>".encode("latin-1"), "text/html; charset=latin-1").first == "Lädt..."


@pytest.mark.parametrize(
    "hostile",
    [
        "<div class=spinner>x</div>" * 20_000,
        "<i class=spinner>" * 3_000 + "x",
        "<div aria-busy=true>" * 3_000 + "x",
        "<p>Loading " + "<b>x</b>" * 40_000,
        "<p>Loading…x" * 20_000,
        "<div class='spinner " + "a" * 200_000 + "'>x",
        "spinner" * 60_000,
        "<div " + "loader" * 60_000 + ">x",
        "<section>" + "<!-- -->" * 20_000 + "Loading…x",
        "<img src=/loader.gif>x" * 20_000,
    ],
)
def test_hostile_pages_cost_no_more_than_their_length(hostile: str) -> None:
    body = f"<body>{hostile}".encode()
    before = time.process_time()
    may_be_loading(body)
    find_signs(body, "")
    assert time.process_time() - before < 2
