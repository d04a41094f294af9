"""Tables and lists that hold only the rows that are in view."""

import re

import pytest

from crawler.adapters.browser import rows_out_of_view
from crawler.adapters.browser.fetcher import BrowserFetcher
from crawler.domain.crawls.seen_words import part_words
from tests.integration.browser.driving import answering, asked, fetch, pages
from tests.integration.browser.two_lanes import TwoLanes
from tests.integration.handmade import lay
from tests.integration.raw_server import Request, response
from tests.site.client import Site

pytestmark = pytest.mark.slow

ROWS = 40
BEGIN = """<body><h1>Ropes</h1><div id=box style="height: 300px; overflow: auto; position: relative">
<div id=rows style="position: relative; height: %(all)dpx"></div></div><p>Below</p><script>
const box = document.getElementById('box'), rows = document.getElementById('rows'), all = %(rows)d;
const row = at => `<div style="position: absolute; height: 30px; top: ${30 * at}px">Rope ${at} of hemp</div>`;
const show = (from, high) => {
  const first = Math.max(0, Math.floor(from / 30) - 2), last = Math.min(all, Math.ceil((from + high) / 30) + 2);
  rows.innerHTML = Array.from({length: last - first}, (_, at) => row(first + at)).join('');
};
"""
MEASURED = "new ResizeObserver(() => show(box.scrollTop, box.clientHeight)).observe(box);"
SET = "box.onscroll = () => show(box.scrollTop, 300); show(0, 300);"
RECYCLED = """
  for (let at = 0; at < 14; at++) rows.insertAdjacentHTML('beforeend', row(at));
  box.onscroll = () => [...rows.children].forEach((one, at) => {
    const first = Math.min(all - 14, Math.floor(box.scrollTop / 30));
    one.style.top = 30 * (first + at) + 'px';
    one.firstChild.data = `Rope ${first + at} of hemp`;
  });
"""
SLOW = """
  box.onscroll = () => {
    const first = Math.floor(box.scrollTop / 30);
    const shown = Array.from({length: Math.min(12, all - first)}, (_, at) => row(first + at).replace('hemp', '…'));
    rows.innerHTML = shown.join('');
    for (const one of rows.children) {
      const [at] = one.textContent.match(/[0-9]+/);
      fetch('/rows/' + at).then(given => given.text()).then(said => { one.textContent = `Rope ${at} of ${said}`; });
    }
  };
  box.onscroll();
"""
OF_THE_TAB = """
  const ofTab = () => show(scrollY, innerHeight);
  addEventListener('scroll', ofTab); addEventListener('resize', ofTab); ofTab();
"""


POOL = """
  for (let at = 0; at < 14; at++) rows.insertAdjacentHTML('beforeend', row(at));
  const move = () => [...rows.children].forEach((one, at) => {
    const first = Math.min(all - 14, Math.floor(box.scrollTop / 30));
    one.style.top = 30 * (first + at) + 'px';
    one.firstChild.data = `Rope ${first + at} of hemp`;
  });
  box.style.cssText += '; %s';
  box.onscroll = move;
"""
LATE = """
  let wait;
  const ask = () => { for (const one of rows.children) {
    const [at] = one.textContent.match(/[0-9]+/);
    fetch('/rows/' + at).then(given => given.text()).then(said => { one.textContent = `Rope ${at} of ${said}`; });
  } };
  const put = () => {
    const first = Math.floor(box.scrollTop / 30);
    const shown = Array.from({length: Math.min(12, all - first)}, (_, at) => row(first + at).replace('hemp', '…'));
    rows.innerHTML = shown.join('');
    clearTimeout(wait);
    wait = setTimeout(ask, 2500);
  };
  box.onscroll = put;
  put(); clearTimeout(wait); ask();
"""


def table(script: str, rows: int = ROWS) -> str:
    return BEGIN % {"rows": rows, "all": 30 * rows} + script + "</script>"


def named(body: bytes) -> list[int]:
    return [int(number) for number in re.findall(rb"Rope (\d+) of hemp", body.partition(b"<script")[0])]


@pytest.mark.parametrize(
    "script",
    [MEASURED, SET, RECYCLED, POOL % "scroll-behavior: smooth", POOL % "scroll-snap-type: y mandatory"],
    ids=["measured", "set", "recycled", "smooth", "snapping"],
)
def test_all_rows_of_a_box_are_read(browser: BrowserFetcher, script: str) -> None:
    with pages({"/": table(script)}) as site:
        result = fetch(browser, site.url())
    assert named(result.body) == list(range(ROWS))
    assert not result.is_cut
    assert b"important" not in result.body, "nothing tells that the box was made higher"


def test_rows_that_have_to_be_asked_for_are_waited_for(browser: BrowserFetcher) -> None:
    def respond(_: object, request: Request) -> bytes:
        return response(b"hemp" if request.path != "/" else table(SLOW, ROWS).encode())

    with answering(respond) as site:
        assert named(fetch(browser, site.url()).body) == list(range(ROWS))


def test_rows_for_which_there_is_no_time_are_left_out_all_of_them_and_that_is_said(browser: BrowserFetcher) -> None:
    """Half of them would be another half each time. The page is like one that got no data."""

    def respond(_: object, request: Request) -> bytes:
        return response(b"hemp" if request.path != "/" else table(LATE, 400).encode())

    with answering(respond) as site:
        result = fetch(browser, site.url())
    assert (named(result.body), result.is_cut) == (list(range(12)), True)
    assert "/" in [one.path for one in result.unfed]


@pytest.mark.parametrize("script", [OF_THE_TAB, OF_THE_TAB.replace("innerHeight", "1024")], ids=["measured", "set"])
def test_rows_of_the_page_itself_are_read(browser: BrowserFetcher, script: str) -> None:
    page = table(script, 80).replace("height: 300px; overflow: auto", "")
    with pages({"/": page}) as site:
        assert named(fetch(browser, site.url()).body) == list(range(80))


def test_rows_in_a_shadow_root_are_read(browser: BrowserFetcher) -> None:
    page = table(MEASURED).replace("<div id=box", "<rope-list></rope-list><template><div id=box", 1)
    page = page.replace("</div></div><p>", "</div></div></template><p>").replace(
        "const box = document.getElementById('box'), rows = document.getElementById('rows')",
        "const root = document.querySelector('rope-list').attachShadow({mode: 'closed'});"
        "root.append(document.querySelector('template').content.cloneNode(true));"
        "const box = root.getElementById('box'), rows = root.getElementById('rows')",
    )
    with pages({"/": page}) as site:
        assert named(fetch(browser, site.url()).body) == list(range(ROWS))


SIDE_BY_SIDE = """<script>for (const [number, box] of document.querySelectorAll('section').entries()) {
  const rows = box.firstChild;
  rows.style.cssText = 'position: relative; height: 1200px';
  const row = at => `<p style="position: absolute; margin: 0; top: ${30 * at}px">Rope ${40 * number + at} of hemp</p>`;
  new ResizeObserver(() => {
    rows.innerHTML = Array.from({length: Math.min(40, Math.ceil(box.clientHeight / 30))}, (_, at) => row(at)).join('');
  }).observe(box);
}</script>"""


def test_all_lists_are_read_and_tables_that_are_only_wide_do_not_count(browser: BrowserFetcher) -> None:
    wide = "<div style='overflow-x: auto; width: 300px'><table><tr><td style='width: 900px'>a<td>b</table></div>" * 20
    lists = "<section style='float: left; width: 200px; height: 200px; overflow: auto'><div></div></section>" * 8
    with pages({"/": f"<body>{wide}{lists}{SIDE_BY_SIDE}"}) as site:
        result = fetch(browser, site.url())
    assert (named(result.body), result.is_cut) == (list(range(320)), False)


def test_columns_out_of_view_are_read(browser: BrowserFetcher) -> None:
    page = """<body><div id=box style="width: 400px; overflow-x: auto"><div style="height: 40px; width: 3000px;
      position: relative" id=rows></div></div><script>
      const box = document.getElementById('box'), rows = document.getElementById('rows');
      new ResizeObserver(() => { rows.innerHTML = Array.from({length: Math.min(30, Math.ceil(box.clientWidth / 100))},
        (_, at) => `<b style="position: absolute; left: ${100 * at}px; top: 0">Rope ${at} of hemp</b>`).join('');
      }).observe(box);</script>"""
    with pages({"/": page}) as site:
        assert named(fetch(browser, site.url()).body) == list(range(30))


def test_a_list_that_grows_when_its_end_is_seen_is_read_as_it_was(browser: BrowserFetcher) -> None:
    """Also if something without words stands between its rows and its end."""
    page = """<body><div id=list></div><div style="height: 400px"></div><i id=end>.</i><script>
      let count = 0;
      const more = async () => {
        if (count) await fetch('/more');
        for (let at = 0; at < 20; at++)
          list.insertAdjacentHTML('beforeend', `<p style="height: 60px">Rope ${count++} of hemp</p>`);
      };
      more();
      new IntersectionObserver(([seen]) => seen.isIntersecting && more()).observe(document.getElementById('end'));
      </script>"""
    with pages({"/": page, "/more": response(b"x")}) as site:
        result = fetch(browser, site.url())
    assert (named(result.body), result.is_cut) == (list(range(20)), False)


@pytest.mark.parametrize("script", [MEASURED, SET], ids=["measured", "set"])
def test_of_very_many_rows_the_first_are_read_and_that_is_said(
    browser: BrowserFetcher, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows_out_of_view, "MOST_STEPS", 4)
    with pages({"/": table(script, 20_000)}) as site:
        result = fetch(browser, site.url())
    read = named(result.body)
    assert 30 < len(read) < 400
    assert (read, result.is_cut) == (list(range(len(read))), True)


def test_a_box_whose_text_goes_on_to_its_end_is_left_alone(browser: BrowserFetcher) -> None:
    """One that loads more at its end grows as often as was asked for."""
    rows = "".join(f"<p>Rope {at} of hemp</p>" for at in range(40))
    page = f"""<body><div id=box style="height: 300px; overflow: auto"><div>{rows}</div><i id=end>.</i></div><script>
      new IntersectionObserver(([seen]) => seen.isIntersecting && fetch('/more')).observe(
        document.getElementById('end'));</script>"""
    with pages({"/": page}) as site:
        assert named(fetch(browser, site.url()).body) == list(range(40))
        assert "/more" not in asked(site)


def test_an_edit_of_a_row_out_of_view_is_told_and_what_is_too_long_is_named(two_lanes: TwoLanes, site: Site) -> None:
    def show(rope: str) -> str:
        return table(SET).replace("Rope ${at} of hemp", f"Rope ${{at}} of ${{at === 35 ? '{rope}' : 'hemp'}}")

    lay(
        site,
        {"/": "<a href=/ropes>Ropes</a><a href=/long>All</a>", "/ropes": show("hemp"), "/long": table(MEASURED, 9000)},
    )
    first = two_lanes.crawl(site.url(), render="always")
    assert first.stats["read_in_part"] == 1
    assert part_words(first) == "On 1 page a table or list is longer than what is read of one"
    lay(site, {"/ropes": show("sisal")})
    second = two_lanes.again(first, seconds=90)
    assert second.change_summary is not None
    assert second.change_summary["changed_page_urls"] == [site.url("/ropes")]
