"""Every page with everything on it: nobody is kept out, nothing that was crawled comes alive, a phone shows it."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from crawler.domain.crawls.project import Project
from tests.integration.dashboard.house import House, serious_violations, serious_violations_on_a_phone_at_night
from tests.integration.handmade import lay, page
from tests.site.client import Site

SCRIPT = '<script>window.owned=1</script><img src=x onerror="window.owned=1">'
QUOTES = "\"'><svg onload=window.owned=1>"
TURNED = "safe\u202egnp.exe\u2066 \u05e9\u05dc\u05d5\u05dd"
PATTERN = "\x1b[31mred\x1b]0;title\x07"
LONG = "endless " * 5_000
PAGES = {
    "projects": "/",
    "all changes": "/feed?view=all",
    "import": "/import",
    "help": "/help",
    "manual": "/help/how-to/watch-a-site",
    "find": "/find?q=e",
    "feed": "/subscribe",
    "settings": "/system/settings",
    "new": "/projects/new",
    "project": "/projects/{project}",
    "edit": "/projects/{project}/edit",
    "credentials": "/projects/{project}/credentials",
    "logins": "/projects/{project}/logins",
    "recipients": "/projects/{project}/recipients",
    "pages": "/projects/{project}/pages",
    "project changes": "/projects/{project}/changes",
    "noise": "/projects/{project}/noise",
    "watched": "/projects/{project}/watched",
    "a watch rule": "/projects/{project}/watched/rule?watch=p&fields=a+%3D+h1&tell=contains+%3Cscript%3E",
    "crawl changes": "/crawls/{crawl}/changes",
    "running changes": "/crawls/{running}/changes",
    "crawl": "/crawls/{crawl}",
    "running": "/crawls/{running}",
    "urls": "/crawls/{crawl}/urls",
    "failed urls": "/crawls/{crawl}/urls?state=failed",
    "explain": "/crawls/{crawl}/explain?url={site}script",
    "explain nothing": "/crawls/{crawl}/explain",
    "schedule": "/projects/{project}/schedule",
    "backtest": "/projects/{project}/schedule/backtest",
    "notifications": "/notifications",
    "empty queue": "/queue",
    "add to the queue": "/queue/add",
    "no categories": "/queue/categories",
    "new category": "/queue/category",
    "no documents": "/projects/{project}/documents",
    "search": "/projects/{project}/search",
    "system": "/system",
    "hosts": "/system/hosts",
    "report": "/crawls/{crawl}/report",
    "findings": "/crawls/{crawl}/report/broken_link",
    "duplicates": "/crawls/{crawl}/report/title_missing",
}


@pytest.fixture(scope="module")
def furnished(module_house: House, module_site: Site) -> dict[str, Any]:
    """A project whose site is as nasty as can be, a crawl that is over and one that is paused."""
    links = [
        "/script",
        "/quotes",
        "/turned",
        "/codes",
        "/long",
        "/missing",
        "/broken",
        "/x?a=%3Cscript%3E",
        "/untitled",
    ]
    lay(
        module_site,
        {
            "/": page(*links, "javascript:alert(1)", "data:text/html,<script>alert(2)</script>", title="Home"),
            "/script": page(title=SCRIPT),
            "/quotes": page(title=QUOTES),
            "/turned": page(title=TURNED),
            "/codes": page(title=PATTERN),
            "/long": page(title=LONG),
            "/x": page(title="A query"),
            "/untitled": page(title=""),
        },
    )
    module_site.edit("/broken", status=500)
    engine = module_house.engine
    odd = f"Nasty {QUOTES[:40]}"
    project = engine.tools.projects.manage.create(
        name=odd, website_url=module_site.url(), settings={"render": "never", "delay_seconds": 0, "use_sitemaps": False}
    )
    engine.tools.projects.manage.change(project.id, {"flagged_for_review": True})
    crawl = over(module_house, project)
    running = module_house.paused_crawl(project.id)
    return {"project": project.id, "crawl": crawl, "running": running, "site": module_site.url(), "name": odd}


def over(house: House, project: Project) -> object:
    crawl = house.engine.tools.crawls.start(project.id)
    house.until(lambda: house.engine.tools.store.get_crawl(crawl.id).status.is_over)
    return crawl.id


@pytest.fixture
def window(house: House, furnished: dict[str, Any]) -> Page:
    return house.page({"width": 1280, "height": 900})


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["crawl", *(pytest.param(name, marks=pytest.mark.slow) for name in PAGES if name != "crawl")]
)
def test_everybody_can_use_it_and_nothing_crawled_comes_alive(
    window: Page, furnished: dict[str, Any], name: str
) -> None:
    answer = window.goto(PAGES[name].format(**furnished))
    assert answer is not None
    assert answer.status == 200
    assert len(answer.body()) < 300_000, "long text is cut"
    assert serious_violations(window) == []
    assert window.evaluate("window.owned") is None
    assert window.locator("main img, main svg[onload], main script, main iframe").count() == 0
    hrefs = window.eval_on_selector_all("a[href]", "links => links.map(link => link.protocol)")
    assert set(hrefs) <= {"http:", "https:"}
    assert serious_violations_on_a_phone_at_night(window) == []


@pytest.mark.slow
def test_what_was_crawled_is_shown_as_text_cut_and_kept_in_its_place(window: Page, furnished: dict[str, Any]) -> None:
    window.goto("/projects/{project}/pages".format(**furnished))
    shown = window.locator("#rows .crawled").all_inner_texts()
    assert SCRIPT[:40] in " ".join(shown)
    assert any(text.startswith("safe\ufffdgnp.exe\ufffd") for text in shown), "codes that turn text are made visible"
    assert any(text.startswith("\ufffd[31mred") for text in shown)
    assert any(text.startswith("endless endless") and text.endswith("…") and len(text) < 120 for text in shown)
    assert "\u202e" not in window.content()
    assert "\x1b" not in window.content()


@pytest.mark.slow
def test_what_streams_in_is_text_too(house: House, window: Page, furnished: dict[str, Any]) -> None:
    window.goto("/crawls/{running}".format(**furnished))
    expect(window.locator("#answers")).not_to_contain_text("…")
    told = {"url": f"{furnished['site']}{QUOTES}", "reason": None, "http_status": 200, "depth": 1}
    items = [
        {**told, "status": status, "title": title}
        for status, title in [("success", SCRIPT), ("failed", TURNED), ("success", LONG[:5000])]
    ]
    publish = house.engine.tools.events.publish_many

    def appeared() -> bool:
        publish(furnished["running"], "page", items)
        return window.locator("#recent tr.success").count() > 0

    house.until(appeared, lambda: window.wait_for_timeout(300))
    expect(window.locator("#recent .what", has_text="<script>window.owned").first).to_be_visible()
    assert window.locator("#recent script, #recent img, #recent svg").count() == 0
    assert "\u202e" not in window.content()
    assert window.evaluate("window.owned") is None


@pytest.mark.slow
def test_a_person_without_a_mouse_gets_everywhere(window: Page, furnished: dict[str, Any]) -> None:
    window.goto("/")
    window.keyboard.press("Tab")
    expect(window.get_by_role("link", name="Skip to content")).to_be_focused()
    window.keyboard.press("Enter")
    for _ in range(60):
        window.keyboard.press("Tab")
        if window.evaluate("document.activeElement.classList.contains('name')"):
            break
    outline = window.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid", "what has the focus can be seen"
    window.keyboard.press("Enter")
    expect(window.get_by_role("heading", level=1)).to_contain_text("Nasty")


@pytest.mark.slow
def test_cancelling_asks_first_and_escape_keeps_it(house: House, window: Page, furnished: dict[str, Any]) -> None:
    window.goto("/crawls/{running}".format(**furnished))
    window.get_by_role("button", name="Cancel").click()
    dialog = window.get_by_role("dialog")
    expect(dialog).to_contain_text("Cancel this crawl?")
    window.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()
    assert not house.engine.tools.store.get_crawl(furnished["running"]).status.is_over


@pytest.mark.slow
def test_rules_are_tried_on_known_pages_while_they_are_typed(window: Page, furnished: dict[str, Any]) -> None:
    window.goto("/projects/{project}/edit".format(**furnished))
    effect = window.locator("#effect")
    expect(effect).to_contain_text("known pages would stay")
    window.get_by_label("Leave out").fill("/script\n/quotes")
    expect(effect).to_contain_text("would drop 2 of 8 pages")
    window.get_by_label("Leave out").fill("(")
    expect(effect.locator(".wrong")).to_be_visible()
    window.get_by_label("Leave out").fill("")
    expect(effect).to_contain_text("would stay")


@pytest.mark.slow
def test_a_form_with_mistakes_says_which_and_keeps_what_was_typed(house: House, window: Page) -> None:
    window.goto("/projects/new")
    window.get_by_label("Address", exact=True).fill("ftp://example.org/")
    window.get_by_text("Advanced", exact=True).click()
    window.get_by_label("Name", exact=True).fill("Kept")
    window.get_by_label("Leave out").fill("(")
    window.get_by_label("Delay between two requests to a host").fill("soon")
    window.get_by_role("button", name="Create without crawling").click()
    expect(window.get_by_role("alert")).to_contain_text("2 fields need another look")
    expect(window.get_by_label("Name", exact=True)).to_have_value("Kept")
    expect(window.locator("#delay_seconds-wrong")).to_contain_text("number")
    window.get_by_label("Leave out").fill("")
    window.get_by_label("Delay between two requests to a host").fill("1")
    window.get_by_role("button", name="Create without crawling").click()
    expect(window.locator("#website_url-wrong")).to_be_visible()
    assert serious_violations(window) == []
    house.mishaps.clear()  # the browser tells of each 422 itself
