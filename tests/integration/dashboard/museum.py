"""A small site that is edited between two crawls, with a counter that changes by itself and text that means harm."""

from html import escape
from typing import NamedTuple
from uuid import UUID

from tests.integration.dashboard.house import House
from tests.integration.handmade import lay
from tests.site.client import Site

SCRIPT = '<script>window.owned=1</script><img src=x onerror="window.owned=1">'
TURNED = "safe\u202egnp.exe"
PATHS = ("/", "/prices", "/hours", "/team", "/storm", "/walks", "/terms")


class Visited(NamedTuple):
    project: UUID
    first: UUID
    second: UUID
    prices: UUID
    """The page's id."""


def pages(day: int) -> dict[str, str]:
    later = day > 1
    texts = {
        "/": ["Harbour Museum", "The old lighthouse stands at the end of the pier and can be climbed by all."],
        "/prices": [
            "Prices",
            f"Adults pay {13 if later else 11} euros, children under twelve enter for free.",
            "Groups of ten and more pay eight euros each.",
            *(["Season tickets are sold from May on."] if later else []),
        ],
        "/hours": ["Opening hours", "Tuesday to Sunday, ten to five, and on holidays as well."],
        "/team": [
            "The team",
            f"Anna keeps the lens clean. {SCRIPT} {TURNED}" if later else "Anna keeps the lens clean.",
        ],
        "/storm": ["A great storm", "The storm of last winter took two of our windows away."],
        "/walks": ["Night walks", "We walk along the pier at night, with lanterns and tea."],
        "/terms": ["Terms", "These terms hold for every visit to the museum and its tower."],
    }
    made = {path: _html(day, *lines, counter=path == "/hours") for path, lines in texts.items()}
    if later:
        made["/lens"] = _html(day, f"A new lens {SCRIPT}", "The new lens was lifted into place with a crane.")
        made["/prices"] = made["/prices"].replace("</nav>", '<a href="/lens">lens</a></nav>')
    return made


def _html(day: int, title: str, *lines: str, counter: bool = False) -> str:
    links = "".join(f'<a href="{path}">{path.strip("/") or "home"}</a> ' for path in PATHS)
    body = "".join(f'<p class="text">{escape(line)}</p>' for line in lines)
    aside = f'<aside class="guests"><p>Lately {"a few" if day < 2 else "plenty of"} guests came by boat</p></aside>'
    return (
        f"<!doctype html><html><head><title>{escape(title)}</title></head><body><nav>{links}</nav>"
        f"<main><h1>{escape(title)}</h1>{body}</main>{aside if counter else ''}<footer>Pier 4</footer></body></html>"
    )


def crawl(house: House, project: UUID) -> UUID:
    tools = house.engine.tools
    started = tools.crawls.start(project)
    house.until(lambda: tools.store.is_diffed(started.id))
    return started.id


def visited(house: House, site: Site, name: str) -> Visited:
    """Crawled, edited (one page gone, one new, three changed) and crawled again."""
    tools = house.engine.tools
    project = tools.projects.manage.create(
        name=name, website_url=site.url(), settings={"render": "never", "delay_seconds": 0, "use_sitemaps": False}
    )
    lay(site, pages(1))
    site.edit("/walks", html=pages(1)["/walks"])
    first = crawl(house, project.id)
    lay(site, pages(2))
    site.edit("/walks", status=404)
    second = crawl(house, project.id)
    tools.projects.manage.change(project.id, {"flagged_for_review": True})
    (row,) = house.engine.rows(
        "SELECT id FROM crawled_pages WHERE project_id = :project AND url = :url",
        project=project.id, url=site.url("/prices"),
    )  # fmt: skip
    return Visited(project.id, first, second, row["id"])
