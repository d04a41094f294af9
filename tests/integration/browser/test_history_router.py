"""A single-page app whose router writes the address by itself: the server sends the same empty shell for every path."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from crawler.domain.crawls.crawl import CrawlStatus
from tests.integration.browser.two_lanes import TwoLanes
from tests.integration.raw_server import Request, Server, response, serving

SHELL = b"""<!doctype html><html><head><title>App</title></head>
<body><div id="root"></div><script src="/app.js"></script></body></html>"""

ROUTER = """
const link = (to, label) => `<a href="${to}">${label}</a> `;
const data = fetch('/items.json').then(answer => answer.json());
const routes = {
  '/': () => ['Home', 'Where everybody begins.' + link('/about', 'About')
    + link('/items', 'Items') + link('/old', 'Old')],
  '/about': () => ['About', 'Who made this and why.' + link('team/', 'Our team') + link('#top', 'Top')],
  '/team/': () => ['Team', 'Two people.' + link('anna', 'Anna') + link('./bob', 'Bob')],
  '/team/anna': () => ['Anna', 'Anna writes the words.'],
  '/team/bob': () => ['Bob', 'Bob counts them.' + link('/late', 'Later')],
  '/late': () => new Promise(done => setTimeout(() => done(['Late', 'This came after a while.']), 400)),
  '/items': () => data.then(items => ['Items', items.map(item => link('/items/' + item.id, item.name)).join('')]),
};

async function find(path) {
  if (routes[path]) return routes[path]();
  const item = (await data).find(item => '/items/' + item.id === path);
  return item ? [item.name, item.text] : ['Nowhere', 'There is no such page.'];
}

async function show() {
  if (location.pathname === '/old') history.replaceState(null, '', '/about');
  const [title, text] = await find(location.pathname);
  document.title = title;
  document.getElementById('root').innerHTML = `<h1>${title}</h1><p>${text}</p>`;
}

addEventListener('popstate', show);
addEventListener('click', event => {
  const target = event.target.closest('a');
  if (target && target.origin === location.origin) {
    event.preventDefault();
    history.pushState(null, '', target.href);
    show();
  }
});
show();
"""

ITEMS = [
    {"id": 1, "name": "Kettle", "text": "It whistles when the water boils."},
    {"id": 2, "name": "Ladle", "text": "It holds as much as a cup."},
]
WORDS = {
    "/": "Where everybody begins.",
    "/about": "Who made this and why.",
    "/team": "Two people.",
    "/team/anna": "Anna writes the words.",
    "/team/bob": "Bob counts them.",
    "/late": "This came after a while.",
    "/items": "Kettle",
    "/items/1": "It whistles when the water boils.",
    "/items/2": "It holds as much as a cup.",
}
"""What a reader sees on each route, and on no other but a list of names."""


@contextmanager
def router_app() -> Iterator[Server]:
    files = {
        "/app.js": response(ROUTER.encode(), "200 OK", "Content-Type: text/javascript"),
        "/items.json": response(json.dumps(ITEMS).encode(), "200 OK", "Content-Type: application/json"),
    }

    def respond(_: object, request: Request) -> bytes:
        return files.get(request.path) or response(SHELL)  # robots.txt and sitemap.xml too, as such servers do

    with serving(respond) as server:
        yield server


@pytest.mark.slow
def test_every_route_of_a_history_router_is_found_with_its_own_text_and_one_that_writes_another_address_leads_there(
    two_lanes: TwoLanes,
) -> None:
    with router_app() as app:
        crawl = two_lanes.crawl(app.url("/"))
        pages = {path: two_lanes.page(crawl, path) for path in ("/about", "/items/1", "/team/anna", "/late")}
        rows = two_lanes.rows("SELECT url, content_text FROM crawled_pages WHERE status = 'success'")
    texts = {"/" + row["url"].split("/", 3)[3].rstrip("/"): row["content_text"] for row in rows}
    assert (crawl.status, crawl.rendered, crawl.lightweight) == (CrawlStatus.COMPLETED, len(WORDS), 0)
    assert texts.keys() == WORDS.keys()
    assert [path for path, words in WORDS.items() if words not in texts[path]] == []
    assert [page["title"] for page in pages.values()] == ["About", "Kettle", "Anna", "Late"]
    ends = two_lanes.ends(crawl)
    assert ends.pop("/old") == "redirected"
    assert set(ends.values()) == {"done"}


def test_without_a_browser_such_an_app_is_one_empty_page(two_lanes: TwoLanes) -> None:
    with router_app() as app:
        crawl = two_lanes.crawl(app.url("/"), render="never")
    assert (crawl.pages_crawled, two_lanes.page(crawl, "/")["content_text"]) == (1, "")
