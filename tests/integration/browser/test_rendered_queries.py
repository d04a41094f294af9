"""Query parameters of a site whose pages scripts fill: they are tried in the browser, as its pages are fetched."""

import json

import pytest

from tests.integration.browser.two_lanes import TwoLanes
from tests.integration.raw_server import Request, response, serving

ON_A_PAGE = 4
SHELL = b"""<!doctype html><html><head><title>Chest</title></head><body><main id=app></main><script>
fetch('/data' + location.pathname + location.search).then(r => r.json()).then(page => {
  document.title = page.title
  document.getElementById('app').innerHTML = page.html
})</script></body></html>"""


class Chest:
    """Lists of tools by `from` and in two orders; only the lists lead to the tools. The server sends one shell."""

    def __init__(self) -> None:
        self.tools = {n: f"Tool {n} lies in the drawer of the joiner, oiled and sharp" for n in range(10)}

    def respond(self, _: object, request: Request) -> bytes:
        path, _, query = request.path.partition("?")
        if not path.startswith("/data"):
            return response(SHELL)
        return response(json.dumps(self._page(path.removeprefix("/data"), query)).encode())

    def _page(self, path: str, query: str) -> dict[str, str]:
        if path.startswith("/tool"):
            number = int(path.removeprefix("/tool"))
            return {"title": f"Tool {number}", "html": f"<h1>Tool {number}</h1><p>{self.tools[number]}</p>"}
        if path == "/":
            return {"title": "Chest", "html": "<h1>Chest</h1><p><a href=/list>All tools of the joiner</a></p>"}
        start = int(dict(pair.split("=") for pair in query.split("&") if pair).get("from", 0))
        rows = [n for n in self.tools if start <= n < start + ON_A_PAGE]
        html = "".join(f"<p><a href=/tool{n}>{self.tools[n]}</a></p>" for n in rows)
        if start + ON_A_PAGE < len(self.tools):
            html += f"<a href=/list?from={start + ON_A_PAGE}>more</a>"
        return {"title": f"Tools from {start}", "html": f"<h1>Tools from {start}</h1>{html}"}


@pytest.mark.slow
def test_lists_behind_a_query_lead_to_their_pages_and_are_watched(two_lanes: TwoLanes) -> None:
    chest = Chest()
    with serving(chest.respond) as server:
        first = two_lanes.crawl(server.url("/"), use_sitemaps=False)
        found = {path for path, end in two_lanes.ends(first).items() if end == "done"}
        assert {f"/tool{n}" for n in chest.tools} <= found, "only the lists lead to them"
        chest.tools[9] = "Tool 9 was lent to the smith"
        told = two_lanes.again(first, seconds=120).change_summary
    assert told is not None
    assert sorted(url.rpartition("/")[2] for url in told["changed_page_urls"]) == ["list?from=8", "tool9"]
    assert told["new_page_urls"] == []


class Lamp(Chest):
    """One lamp in three colours, which says the same of each."""

    def __init__(self) -> None:
        self.notes: dict[str, str] = {}

    def _page(self, path: str, query: str) -> dict[str, str]:
        links = "".join(f"<p><a href=/lamp?colour={colour}>{colour}</a></p>" for colour in ("red", "green", "blue"))
        if path == "/":
            return {"title": "Lamps", "html": f"<h1>Lamps</h1><a href=/lamp>The lamp</a>{links}"}
        note = self.notes.get(query.removeprefix("colour="), "In stock")
        words = "The lamp of the lighthouse was made of brass and glass by the joiner and the smith"
        return {"title": "The lamp", "html": f"<h1>The lamp</h1><p>{words}</p><p>{note}</p>{links}"}


@pytest.mark.slow
def test_an_edit_of_one_of_several_addresses_that_scripts_fill_is_told(two_lanes: TwoLanes) -> None:
    lamp = Lamp()
    with serving(lamp.respond) as server:
        crawl = two_lanes.again(two_lanes.crawl(server.url("/"), use_sitemaps=False), seconds=120)
        assert {path for path, end in two_lanes.ends(crawl).items() if end == "done"} == {"/", "/lamp"}
        lamp.notes["blue"] = "Sold out"
        told = two_lanes.again(crawl, seconds=120)
        once = two_lanes.again(told, seconds=120)
    assert told.change_summary is not None
    assert once.change_summary is not None
    changed = [url.rpartition("/")[2] for url in told.change_summary["changed_page_urls"]]
    assert (changed, told.change_summary["new_page_urls"]) == (["lamp?colour=blue"], [])
    assert once.change_summary["summary"]["changed_pages"] == 0
