"""A person reads what changed, ignores what changes by itself after seeing what that would have meant, and accepts."""

import json
import re
from io import BytesIO
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from tests.integration.dashboard.house import House, serious_violations, serious_violations_on_a_phone_at_night
from tests.integration.dashboard.museum import SCRIPT, Visited, crawl, pages, visited
from tests.site.client import Site

pytestmark = pytest.mark.slow

QUOTES = "\"'><svg onload=window.owned=1>"
PAGES = {
    "changes": "/crawls/{second}/changes",
    "nothing to compare": "/crawls/{first}/changes",
    "one group": "/crawls/{second}/changes?group=new",
    "changed lines": "/crawls/{second}/changes/lines",
    "side by side": "/crawls/{second}/changes/page?url={site}team&whole=true",
    "in one line": "/crawls/{second}/changes/page?url={site}team&view=inline&whole=true",
    "no such page": "/crawls/{second}/changes/page?url={site}nowhere",
    "which page": "/crawls/{second}/changes/page",
    "project changes": "/projects/{project}/changes",
    "all crawls": "/projects/{project}/changes?all=true",
    "rules": "/projects/{project}/noise",
    "new rule": "/projects/{project}/noise/new",
    "wrong rule": "/projects/{project}/noise/new?kind=regex&value=(%3Cscript%3E",
    "trial": "/projects/{project}/noise/trial?kind=selector&value=.guests",
    "no trial": "/projects/{project}/noise/trial",
}


@pytest.fixture(scope="module")
def museum(module_house: House, module_site: Site) -> Visited:
    return visited(module_house, module_site, "Museum")


def seen(museum: Visited, site: Site) -> dict[str, Any]:
    return {**museum._asdict(), "site": site.url()}


@pytest.mark.parametrize("name", PAGES)
def test_everybody_can_use_it_and_nothing_crawled_comes_alive(
    house: House, museum: Visited, module_site: Site, name: str
) -> None:
    page = house.page({"width": 1280, "height": 900})
    answer = page.goto(PAGES[name].format(**seen(museum, module_site)))
    assert answer is not None
    assert answer.status == 200
    page.wait_for_load_state("networkidle")
    assert serious_violations(page) == []
    assert page.evaluate("window.owned") is None
    assert page.locator("main img, main svg[onload], main script, main iframe").count() == 0
    assert "\u202e" not in page.content()
    assert serious_violations_on_a_phone_at_night(page) == []


def test_a_person_sees_every_group_and_why_nobody_was_told(house: House, museum: Visited) -> None:
    page = house.page()
    page.goto(f"/projects/{museum.project}")
    page.get_by_role("navigation", name="Project").get_by_role("link", name="Changes").click()
    row = page.locator("#rows tr").first
    expect(row).to_contain_text("significant")
    row.get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(f"/crawls/{museum.second}/changes"))
    expect(page.get_by_role("heading", name="Changed 3")).to_be_visible()
    expect(page.locator("#new")).to_contain_text("/lens")
    expect(page.locator("#removed")).to_contain_text("/walks")
    expect(page.locator("#removed")).to_contain_text("gone: 404 or 410")
    expect(page.get_by_text("Manual crawls don't send notifications.")).to_be_visible()
    expect(page.get_by_text("(significant from 10 %)")).to_be_visible()
    # The changed lines come by themselves.
    expect(page.locator("#changed ins", has_text="Season tickets are sold")).to_be_visible()


def test_a_diff_reads_side_by_side_in_one_line_and_whole(house: House, museum: Visited) -> None:
    page = house.page()
    page.goto(f"/crawls/{museum.second}/changes")
    page.locator("#changed").get_by_role("link", name="/prices", exact=True).click()
    expect(page.get_by_role("link", name="Side by side")).to_have_attribute("aria-current", "true")
    price = page.locator(".edits tr.edit", has_text="Adults pay")
    expect(price.locator("td.old")).to_have_text("Adults pay 11 euros, children under twelve enter for free.")
    expect(price.locator("td.old del")).to_have_text("11")
    expect(price.locator("td.new")).to_have_text("Adults pay 13 euros, children under twelve enter for free.")
    expect(price.locator("td.new ins")).to_have_text("13")
    expect(price.locator("td.old ins, td.new del")).to_have_count(0)
    page.get_by_role("link", name="In one line").click()
    line = page.locator(".edits tr.edit td.line", has_text="Adults pay")
    expect(line).to_have_text("Adults pay 11 13 euros, children under twelve enter for free.")
    expect(page.locator(".edits tr.come", has_text="Season tickets")).to_be_visible()
    expect(page.locator("#whole table")).to_have_count(0)
    page.get_by_role("link", name="Compare the whole text").click()
    expect(page.locator("#whole tr.same", has_text="Groups of ten and more")).to_be_visible()
    expect(page.locator("#whole ins", has_text="13")).to_be_visible()


def test_what_means_harm_is_text_in_titles_and_diffs(house: House, museum: Visited, module_site: Site) -> None:
    page = house.page()
    page.goto(f"/crawls/{museum.second}/changes/page?url={module_site.url('/team')}&whole=true")
    expect(page.locator(".edits ins")).to_contain_text(SCRIPT)
    expect(page.locator(".edits ins")).to_contain_text("safe\ufffdgnp.exe")
    expect(page.locator("#whole")).to_contain_text("<script>window.owned=1")
    page.goto(f"/projects/{museum.project}/pages?prefix=/lens")
    page.get_by_role("link", name=re.compile("A new lens")).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(SCRIPT)
    assert page.evaluate("window.owned") is None


def test_a_rule_for_one_of_a_pages_changes_says_that_others_are_still_told(house: House, museum: Visited) -> None:
    page = house.page()
    page.goto(f"/projects/{museum.project}/noise/trial?kind=regex&value=^Season%20tickets")
    same = "The same alerts in the last compared crawl: it has other changes, too."
    expect(page.locator("p.lead")).to_have_text(same)
    expect(page.locator(".left-out")).to_contain_text("Season tickets")


def test_a_block_is_ignored_after_its_backtest_was_shown_and_the_next_crawl_is_quiet(
    house: House, museum: Visited, module_site: Site
) -> None:
    page = house.page()
    page.goto(f"/crawls/{museum.second}/changes/page?url={module_site.url('/hours')}")
    guests = page.locator(".edits > li", has_text="guests came by boat")
    guests.get_by_role("link", name=re.compile("Ignore this block")).click()
    expect(page.locator(".option[aria-current] code")).to_have_text("aside.guests > p")
    expect(page.locator("#trial")).to_contain_text("would have counted fewer changed pages")
    assert house.engine.tools.changes.noise_rules.list_rules(museum.project) == [], "looking adds nothing"
    page.locator(".option", has_text="The whole box").click()
    trial = page.locator("#trial")
    expect(trial.locator("code")).to_have_text("aside.guests")
    expect(trial.locator("tbody tr")).to_have_count(1)
    expect(trial.locator("tbody tr td").last).to_have_text("3 → 2")
    expect(trial).to_contain_text("would have counted fewer changed pages")
    trial.get_by_role("button", name="Ignore on every page").click()
    expect(page.get_by_text("The rule was added.")).to_be_visible()
    expect(page).to_have_url(re.compile("/changes/page"))
    expect(page.get_by_text("Nothing: only ignored content differs.")).to_be_visible()
    expect(page.get_by_text("Ignored here:")).to_contain_text("aside.guests")
    (rule,) = house.engine.tools.changes.noise_rules.list_rules(museum.project)
    assert (rule.kind, rule.value) == ("selector", "aside.guests")
    module_site.edit("/hours", html=pages(2)["/hours"].replace("plenty of guests", "hardly any guests"))
    later = crawl(house, museum.project)
    assert house.engine.tools.store.get_crawl(later).change_summary["summary"]["changed_pages"] == 0  # type: ignore[index]
    page.goto(f"/crawls/{later}/changes")
    expect(page.locator("#quiet")).to_contain_text("aside.guests")
    expect(page.locator("#judged")).to_have_text("Nothing changed")


def test_rules_are_switched_off_on_and_removed(house: House, museum: Visited) -> None:
    page = house.page()
    page.goto(f"/projects/{museum.project}/noise/new")
    page.get_by_label("Leave out").select_option("regex")
    page.get_by_label("Selector or expression").fill("(")
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#value-wrong")).to_contain_text("not a valid regular expression")
    page.get_by_label("Selector or expression").fill("^Pier [0-9]+$")
    page.get_by_role("button", name="Try it").click()
    page.get_by_role("button", name="Add this rule").click()
    row = page.locator("tr", has_text="^Pier [0-9]+$")
    expect(row).to_contain_text("on")
    row.get_by_role("button", name="Switch off").click()
    expect(page.get_by_text("The rule is off.")).to_be_visible()
    row.get_by_role("button", name="Switch on").click()
    expect(page.get_by_text("The rule is on.")).to_be_visible()
    row.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("The rule was removed.")).to_be_visible()
    expect(row).to_have_count(0)


FAR = "http://far.example/"


def everything(museum: Visited) -> dict[str, Any]:
    """A summary with something in each group; lists that are cut, and counts that are not."""
    gone, led, alive = (f"{FAR}{name}" for name in ("gone", "led", "alive"))
    banner = {"removed": QUOTES, "added": "", "pages": 9, "example_urls": [f"{FAR}x"], "place": "nav.main"}
    return {
        "crawl_id": str(museum.first),
        "compared_to": str(museum.second),
        "is_significant": True,
        "summary": {"new_pages": 120, "removed_pages": 2, "changed_pages": 1, "unchanged_pages": 9},
        "new_page_urls": [f"{FAR}new/{n}?q={QUOTES}" for n in range(120)],
        "removed_page_urls": [gone, led],
        "changed_page_urls": [f"{FAR}edited"],
        "moved_pages": 1,
        "moved": [{"from": f"{FAR}a", "to": f"{FAR}b"}],
        "removals": [
            {"url": gone, "class": "gone"},
            {"url": led, "class": "moved", "target": f"{FAR}home"},
            {"url": alive, "class": "alive"},
        ],
        "removal_counts": {"gone": 1, "moved": 1, "alive": 1500},
        "quiet_pages": 3000,
        "quiet_page_urls": [{"url": f"{FAR}hush", "rules": ["template", "age", QUOTES]}],
        "left_out_places": [{"place": "div.teaser>p", "rule": QUOTES, "pages": 17}],
        "template_changes": [banner],
        "walls": [{"url": f"{FAR}wall", "kind": "wall"}],
        "not_compared": 2,
        "not_compared_urls": [f"{FAR}wall", f"{FAR}unsure"],
        "redirected_together": [{"target": f"{FAR}home", "pages": 4}],
        "wall_notes": [{"kind": "redirect", "pages": 7, "target": f"{FAR}login"}],
    }


def test_every_group_of_a_summary_is_shown_and_long_ones_go_on(house: House, museum: Visited) -> None:
    house.engine.rows(
        "UPDATE crawl_jobs SET change_summary = CAST(:s AS jsonb) WHERE id = :id RETURNING 1",
        s=json.dumps(everything(museum)), id=museum.first,
    )  # fmt: skip
    house.engine.rows(
        "INSERT INTO notifications (id, project_id, crawl_id, channel, kind, target, status) "
        "VALUES (gen_random_uuid(), :p, :c, 'email', 'changes', 'a@example.org', 'failed') RETURNING 1",
        p=museum.project, c=museum.first,
    )  # fmt: skip
    try:
        page = house.page()
        page.goto(f"/crawls/{museum.first}/changes")
        expect(page.locator(".told")).to_contain_text("email failed")
        chips = page.get_by_role("navigation", name="Groups of changes").get_by_role("listitem")
        assert [" ".join(words.split()) for words in chips.all_inner_texts()] == [
            "Changed 1", "Site-wide changes 1", "New 120", "Removed 2", "Moved 1", "Not found again 1,500",
            "Ignored changes 3,000", "Walls 1", "Not compared 1",
        ]  # fmt: skip
        for group, words in {
            "removed": "leads elsewhere now", "moved": "→", "missing": "no longer linked, but alive",
            "walls": "a bot check", "quiet": "only a site-wide edit, age",
            "template": QUOTES, "not_compared": "/unsure",
        }.items():  # fmt: skip
            expect(page.locator(f"#{group}")).to_contain_text(words)
        expect(page.locator("#removed")).to_contain_text("4 pages of them lead to far.example/home")
        expect(page.get_by_text("7 pages all led to one place")).to_be_visible()
        expect(page.locator("#left-out")).to_contain_text("div.teaser>p (17 pages)")
        expect(page.locator("#changed")).to_contain_text("no longer stored")
        page.get_by_role("link", name="All 120").click()
        expect(page.locator("#rows tr:not(.more)")).to_have_count(50)
        page.get_by_role("link", name="Show more").click()
        expect(page.locator("#rows tr:not(.more)")).to_have_count(100)
        page.get_by_role("link", name="Show more").click()
        expect(page.locator("#rows tr")).to_have_count(120)
        assert page.evaluate("window.owned") is None
    finally:
        house.engine.rows("UPDATE crawl_jobs SET change_summary = NULL WHERE id = :id RETURNING 1", id=museum.first)


def test_accepting_clears_the_flag_and_a_key_that_reads_is_not_asked(house: House, museum: Visited) -> None:
    house.engine.tools.projects.manage.change(museum.project, {"flagged_for_review": True})
    page = house.page()
    page.goto(f"/crawls/{museum.second}/changes")
    page.get_by_role("button", name="Accept").click()
    expect(page.get_by_text("nothing of this project waits for review")).to_be_visible()
    expect(page.get_by_role("button", name="Accept")).to_have_count(0)
    assert not house.engine.tools.store.get_project(museum.project).flagged_for_review


@pytest.mark.parametrize("back", ["//evil.example/", "https://evil.example/", "/crawls/..\\x", "javascript:alert(1)"])
def test_after_a_rule_only_pages_of_ours_follow(house: House, museum: Visited, back: str) -> None:
    page = house.page()
    page.goto(f"/projects/{museum.project}/noise/trial?kind=numbers&back={back}")
    assert page.locator('input[name="back"]').input_value() == ""
    page.get_by_role("link", name="Back", exact=True).click()
    expect(page).to_have_url(f"{house.url}/projects/{museum.project}/noise")


def test_pictures_lie_beside_and_over_each_other(house: House, museum: Visited) -> None:
    tools = house.engine.tools
    versions = [row.id for row in tools.pages.content.list_versions(museum.project, museum.prices, None, 2)]
    for version in versions:
        house.engine.rows(
            "INSERT INTO screenshots (version_id, image, thumbnail) VALUES (:v, :i, :i) RETURNING 1",
            v=version,
            i=PICTURE,
        )
    page = house.page()
    page.goto(f"/projects/{museum.project}/pages/{museum.prices}/diff")
    shown = page.locator(".pair img")
    expect(shown).to_have_count(2)
    shown.first.scroll_into_view_if_needed()
    house.until(lambda: bool(shown.evaluate_all("all => all.every(one => one.naturalWidth === 2)")))
    page.get_by_text("Lay one over the other").click()
    slider = page.get_by_label("From before to after")
    slider.focus()
    slider.press("End")
    assert page.locator("#uncovered").get_attribute("width") == "2"
    slider.press("Home")
    assert page.locator("#uncovered").get_attribute("width") == "0"
    assert serious_violations(page) == []


def picture(height: int, *bars: tuple[int, int]) -> bytes:
    """A white picture with black bars at these heights, each a triangle: no two rows of pixels are the same."""
    drawn = Image.new("RGB", (400, height), "white")
    for top, width in bars:
        for row in range(16):
            drawn.paste("black", (40, top + row, 40 + width - row, top + row + 1))
    file = BytesIO()
    drawn.save(file, "PNG")
    return file.getvalue()


def test_what_differs_in_two_pictures_is_marked_and_what_moved_down_is_not(house: House, museum: Visited) -> None:
    tools = house.engine.tools
    (team,) = house.engine.rows(
        "SELECT id FROM crawled_pages WHERE project_id = :id AND url LIKE '%/team'", id=museum.project
    )
    newer, older = (row.id for row in tools.pages.content.list_versions(museum.project, team["id"], None, 2))
    # One bar is wider now, and another one came in at 240: what stood below it stands 40 lower.
    bars = [(40, 300), (120, 200), (200, 260), (320, 340)]
    new_bars = [(40, 300), (120, 220), (200, 260), (240, 180), (360, 340)]
    for version, image in ((older, picture(400, *bars)), (newer, picture(440, *new_bars))):
        house.engine.rows(
            "INSERT INTO screenshots (version_id, image, thumbnail) VALUES (:v, :i, :i) RETURNING 1", v=version, i=image
        )
    page = house.page()
    page.goto(f"/projects/{museum.project}/pages/{team['id']}/diff")
    canvas = page.locator("canvas[data-difference]")
    canvas.scroll_into_view_if_needed()
    expect(page.locator("[data-said]")).to_contain_text("% of the picture")
    marked = """(canvas, [x, y]) => {
        const [red, green] = canvas.getContext("2d").getImageData(x, y, 1, 1).data;
        return red > green + 30;
    }"""
    assert canvas.evaluate("canvas => [canvas.width, canvas.height]") == [400, 440]
    same, wider, came, moved = [60, 48], [250, 128], [60, 248], [60, 368]
    assert [canvas.evaluate(marked, place) for place in (same, wider, came, moved)] == [False, True, True, False]
    assert not canvas.evaluate(marked, [60, 128]), "the rest of the bar is as it was"
    assert serious_violations(page) == []


PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000002000000020802000000fdd49a730000001049444154789c6338516103440c"
    "100a002bce05f1d07aed5a0000000049454e44ae426082"
)
"""PNG, two by two."""
