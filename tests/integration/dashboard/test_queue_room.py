"""Operators run the queue: lists in, rows that are no good, many at once, one in full, selectors tried while typing."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from crawler.domain.acquisition.entries import EntryStatus, QueueEntry, QueueFilter
from crawler.domain.acquisition.selectors import read_selectors
from crawler.domain.api_keys import Scope
from crawler.domain.crawls.project import ACQUISITION_ID
from tests.integration.acquiring import HOTEL, hotel
from tests.integration.dashboard.house import PHONE, House, serious_violations, serious_violations_day_and_night
from tests.integration.handmade import lay, page
from tests.site.client import Site
from tests.unit.acquisition.test_warc import archive

pytestmark = pytest.mark.slow

NASTY = "<img src=x onerror=window.owned=1>\u202e\x1b[31m"
CSV = (
    "PRIORITY;url;category\n"
    "1;https://good-1.example/;museum\n"
    "1;not a url;museum\n"
    "12;https://wrong-priority.example/;museum\n"
    f"1;https://wrong-category.example/;{'x' * 80}\n"
    '1;=HYPERLINK("http://evil.example");<script>window.owned=1</script>\n'
    f"2;https://good-2.example/{'a' * 30};<img src=x onerror=window.owned=1>\n"
    "1;HTTPS://GOOD-1.example/?utm_source=x;museum\n"
)


@pytest.fixture(scope="module")
def hotels(module_house: House, module_site: Site) -> dict[str, QueueEntry]:
    """Pages that were fetched and read, one that has nothing, one that is gone; by path."""
    tools = module_house.engine.tools
    pages = {f"/hotel/{n}": hotel(f"Hotel {n}", "" if n == 3 else f"{n}0 €") for n in range(1, 4)}
    pages["/nasty"] = hotel(f"A &lt;script&gt;window.owned=1&lt;/script&gt; {NASTY[-6:]}")
    lay(module_site, {**pages, "/bare": page(body="", title="")})
    tools.acquisition.fill_queue.add([])
    tools.projects.manage.change(ACQUISITION_ID, {"settings": {"render": "never", "delay_seconds": 0}})
    tools.acquisition.categories.put(
        "hotel", read_selectors({**HOTEL, "fields": {**HOTEL["fields"], "name": {"selector": "h1", "required": True}}})
    )
    tools.acquisition.fill_queue.add(
        [module_site.url(path) for path in [*pages, "/bare"]], category="hotel", priority=2
    )
    tools.acquisition.fill_queue.add([module_site.url("/missing")], category="other")
    work(module_house)
    found = tools.acquisition.queue.list_entries(QueueFilter(), limit=100)
    return {entry.normalized_url.partition("/")[2]: entry for entry in found}


def work(house: House) -> None:
    tools = house.engine.tools
    tools.acquisition.run_queue()
    house.until(lambda: not tools.acquisition.queue.counts()["pending"] + tools.acquisition.queue.counts()["fetching"])
    tools.acquisition.extract_entries()


def status(house: House, entry: QueueEntry) -> EntryStatus:
    return house.engine.tools.acquisition.queue.get(entry.id).status


def test_a_file_with_bad_rows_lands_and_says_which_were_no_good(
    house: House, hotels: dict[str, QueueEntry], tmp_path: Path
) -> None:
    file = tmp_path / "list.csv"
    file.write_text(CSV, encoding="utf-16")
    window = house.page()
    window.goto("/")
    window.get_by_role("link", name="Queue", exact=True).click()
    window.get_by_role("link", name="Add URLs").click()
    window.get_by_label("CSV or web archive").set_input_files(file)
    window.get_by_role("button", name="Import").click()
    expect(window.get_by_role("heading", name="2 URLs were added")).to_be_visible()
    expect(window.locator("#report-words")).to_contain_text("4 rows were no good")
    expect(window.locator("#report-words")).to_contain_text("1 was there already")
    rows = window.locator("#bad-rows tbody tr")
    assert [row.locator("td").first.inner_text() for row in rows.all()] == ["3", "4", "5", "6"]
    expect(rows.nth(1)).to_contain_text("priority must be a whole number")
    assert serious_violations(window) == []
    window.get_by_role("link", name="To the entries").click()
    row = window.get_by_role("row").filter(has_text="good-2.example")
    expect(row).to_contain_text("<img src=x onerror=window.owned=1>")
    assert window.evaluate("window.owned") is None
    house.engine.rows("DELETE FROM crawl_queue WHERE host LIKE 'good-%' RETURNING id")


def test_a_web_archive_adds_its_urls_with_the_category_that_is_given(
    house: House, hotels: object, tmp_path: Path
) -> None:
    file = tmp_path / "old.warc.gz"
    file.write_bytes(archive("https://archived.example/1", "https://archived.example/2"))
    window = house.page()
    window.goto("/queue/add")
    window.get_by_label("CSV or web archive").set_input_files(file)
    window.get_by_text("Options").click()
    window.get_by_label("Category of an archive").fill("archived & old")
    window.get_by_label("Their priority").fill("8")
    window.get_by_role("button", name="Import").click()
    expect(window.get_by_role("heading", name="2 URLs were added")).to_be_visible()
    added = house.engine.tools.acquisition.queue.list_entries(QueueFilter(host="archived.example"))
    assert [(entry.category, entry.priority) for entry in added] == [("archived & old", 8)] * 2
    house.engine.rows("DELETE FROM crawl_queue WHERE host = 'archived.example' RETURNING id")


def test_what_is_no_list_is_refused_with_a_sentence(house: House, hotels: object, tmp_path: Path) -> None:
    file = tmp_path / "photo.csv"
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40)
    window = house.page()
    window.goto("/queue/add")
    window.get_by_label("CSV or web archive").set_input_files(file)
    window.get_by_role("button", name="Import").click()
    expect(window.locator("#report")).to_be_visible()
    expect(window.locator("#verdict")).to_have_class("outcome failed")
    assert "\ufffdPNG" not in window.locator("#report-head").inner_text()
    house.mishaps.clear()  # the browser tells of a 422 itself


def test_urls_typed_by_hand_are_added_and_bad_lines_stay_to_be_mended(house: House, hotels: object) -> None:
    window = house.page()
    window.goto("/queue/add")
    window.get_by_label("URLs", exact=True).fill(
        f"https://typed.example/a\nftp://typed.example/\n{NASTY}\nhttps://typed.example/a"
    )
    window.get_by_label("Category", exact=False).first.fill("typed")
    window.get_by_role("button", name="Add them").click()
    expect(window.get_by_role("status").first).to_contain_text("1 URL was added")
    expect(window.get_by_role("status").first).to_contain_text("2 lines could not be read")
    expect(window.get_by_role("row").filter(has_text="Only http and https")).to_contain_text("ftp://typed.example/")
    expect(window.get_by_label("URLs", exact=True)).to_have_value(f"ftp://typed.example/\n{NASTY}")
    assert window.evaluate("window.owned") is None
    window.get_by_label("URLs", exact=True).fill("https://typed.example/b")
    window.get_by_role("button", name="Add them").click()
    expect(window.locator("#toasts")).to_contain_text("Added 1 entry")
    expect(window.get_by_role("row").filter(has_text="typed.example/b")).to_contain_text("typed")
    house.engine.rows("DELETE FROM crawl_queue WHERE host = 'typed.example' RETURNING id")


def test_filters_narrow_the_list_while_they_are_chosen_and_the_export_follows(
    house: House, hotels: dict[str, QueueEntry]
) -> None:
    window = house.page()
    window.goto("/queue")
    rows = window.locator("#rows tr")
    expect(rows).to_have_count(6)
    window.get_by_role("radio", name="Failed").check(force=True)
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("not found")
    window.get_by_label("Category").select_option("hotel")
    expect(rows).to_have_count(1)
    expect(rows).to_contain_text("field missing: The page has no name")
    assert "status=failed" in window.url
    export = window.locator("#exports a").first.get_attribute("href")
    assert export == "/api/v1/queue/export?status=failed&category=hotel"
    window.goto("/queue")
    window.get_by_label("Address begins with").fill(f"http://{hotels['nasty'].host}/hotel")
    expect(rows).to_have_count(3)
    window.get_by_label("Order").select_option("id")
    expect(rows.first).to_contain_text("/hotel/1")
    window.get_by_label("Address begins with").fill("nowhere")
    expect(rows.filter(has_text="No entry matches")).to_be_visible()


def test_ticked_entries_are_fetched_again_and_read(house: House, hotels: dict[str, QueueEntry]) -> None:
    window = house.page()
    window.goto("/queue?status=failed")
    retry = window.get_by_role("button", name="Fetch again")
    expect(retry).to_be_disabled()
    window.get_by_label("Choose all entries shown").check()
    expect(window.locator("#chosen")).to_have_text("2 chosen")
    retry.click()
    expect(window.locator("#toasts")).to_contain_text("To be fetched again: 2 entries.")
    assert status(house, hotels["missing"]) is EntryStatus.PENDING
    window.goto("/queue")
    window.get_by_role("button", name="Run now").click()
    expect(window.locator("#toasts")).to_contain_text("Being fetched now: 2 entries.")
    house.until(lambda: status(house, hotels["missing"]) is EntryStatus.FAILED)
    house.until(lambda: status(house, hotels["bare"]) is EntryStatus.FETCHED)
    house.engine.tools.acquisition.extract_entries()
    expect(window.locator("#count-failed")).to_have_text("2")


def test_all_that_match_are_asked_for_once_more_before_anything_happens(
    house: House, hotels: dict[str, QueueEntry]
) -> None:
    window, tools = house.page(), house.engine.tools
    tools.acquisition.fill_queue.add([f"https://many-{n}.example/" for n in range(60)], category="many")
    window.goto("/queue")
    window.get_by_label("Category").select_option("many")
    window.wait_for_url("**category=many**")
    expect(window.locator("#rows tr")).to_have_count(51)
    window.get_by_role("link", name="Show more").click()
    expect(window.locator("#rows tr")).to_have_count(60)
    window.get_by_label("All that match").check()
    expect(window.locator("#chosen")).to_contain_text("also those not shown")
    window.get_by_role("button", name="Switch off").click()
    expect(window.get_by_role("heading", level=1)).to_have_text("Switch 60 entries off?")
    expect(window.locator(".ask")).to_contain_text("of the category many")
    assert serious_violations(window) == []
    window.get_by_role("link", name="Back", exact=True).click()
    assert {
        entry.is_active for entry in tools.acquisition.queue.list_entries(QueueFilter(category="many"), limit=99)
    } == {True}
    window.get_by_label("All that match").check()
    window.get_by_role("button", name="Switch off").click()
    window.get_by_role("button", name="Switch off").click()
    expect(window.locator("#toasts")).to_contain_text("Switched 60 entries off")
    assert {
        entry.is_active for entry in tools.acquisition.queue.list_entries(QueueFilter(category="many"), limit=99)
    } == {False}
    window.get_by_label("All that match").check()
    window.get_by_role("button", name="Delete").click()
    expect(window.locator(".ask")).to_contain_text("cannot be undone")
    window.get_by_role("button", name="Delete").click()
    expect(window.locator("#toasts")).to_contain_text("Deleted 60 entries")
    assert tools.acquisition.queue.list_entries(QueueFilter(category="many")) == []
    assert status(house, hotels["hotel/1"]) is EntryStatus.DONE


def test_one_entry_is_shown_in_full_with_fields_text_and_hand_off(house: House, hotels: dict[str, QueueEntry]) -> None:
    window = house.page()
    window.goto(f"/queue/{hotels['hotel/2'].id}")
    expect(window.locator(".facts").first).to_contain_text("Hotel 2")
    expect(window.locator(".facts").first).to_contain_text("20 €")
    expect(window.locator(".reading")).to_contain_text("Quiet rooms above the lake")
    expect(window.get_by_role("region", name="Classification")).to_contain_text("CRAWLER_CLASSIFY_TASK")
    assert serious_violations(window) == []
    window.get_by_role("link", name="as it was stored").click()
    expect(window.get_by_role("heading", level=1)).to_contain_text("Hotel 2")
    window.goto(f"/queue/{hotels['nasty'].id}")
    expect(window.locator(".facts").first).to_contain_text("A <script>window.owned=1</script>")
    assert window.evaluate("window.owned") is None
    assert "\u202e" not in window.content()
    window.goto(f"/queue/{hotels['bare'].id}")
    expect(window.get_by_role("region", name="What went wrong")).to_contain_text("Field missing. The page has no name")
    window.goto(f"/queue/{hotels['missing'].id}")
    expect(window.get_by_role("region", name="What went wrong")).to_contain_text("The server has no such page")
    window.get_by_role("button", name="Delete").click()
    window.get_by_role("dialog").get_by_role("button", name="Back").click()
    assert status(house, hotels["missing"]) is EntryStatus.FAILED


def test_selectors_are_tried_on_a_stored_page_while_they_are_typed_and_saved(
    house: House, hotels: dict[str, QueueEntry]
) -> None:
    window = house.page()
    window.goto("/queue/categories")
    window.get_by_role("link", name="New category").click()
    window.get_by_label("Name", exact=True).fill("inn <b>")
    window.get_by_label("A stored page").fill(hotels["hotel/1"].source_url)
    trial = window.locator("#trial")
    expect(trial).to_contain_text("Hotel 1")
    rule(window, 1, "cost", ".price")
    expect(trial.locator(".read")).to_contain_text("10 €")
    rule(window, 2, "advert", "//p[@class='ad']", kind="xpath")
    expect(trial.locator(".read")).to_contain_text("Buy")
    window.get_by_label("Leave out").fill(".ad\n.not-there")
    expect(trial.locator(".read .missing")).to_contain_text("advert")
    expect(trial).to_contain_text("Line 2 of “Leave out” matches nothing")
    expect(window.locator("#trial-said")).to_have_text("1 of 2 fields have a value.")
    window.get_by_label("Leave out").fill("p[")
    expect(trial.locator(".wrong")).to_contain_text("exclude[0]: the CSS is wrong at character")
    window.get_by_label("Leave out").fill("nav")
    window.get_by_role("button", name="Remove field 2").click()
    expect(trial.locator(".read")).not_to_contain_text("advert")
    assert serious_violations(window) == []
    window.get_by_role("button", name="Make the category").click()
    expect(window.locator("#toasts")).to_contain_text("Saved.")
    saved = house.engine.tools.acquisition.categories.get("inn <b>").selectors
    assert (list(saved.fields), saved.exclude[0].selector) == (["cost"], "nav")
    expect(window.get_by_role("heading", level=1)).to_have_text("inn <b>")
    window.get_by_role("button", name="Delete").click()
    window.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(window.locator("#toasts")).to_contain_text("The category was deleted")
    assert house.engine.tools.acquisition.categories.find("inn <b>") is None


def rule(window: Page, number: int, name: str, selector: str, kind: str = "css") -> None:
    window.get_by_label(f"Name of field {number}", exact=True).fill(name)
    window.get_by_label(f"Kind of selector of field {number}").select_option(kind)
    window.get_by_label(f"Selector of field {number}", exact=True).fill(selector)


def test_a_category_shows_which_fields_are_filled_and_what_is_wrong_is_not_saved(
    house: House, hotels: dict[str, QueueEntry]
) -> None:
    window = house.page()
    window.goto("/queue/categories")
    card = window.get_by_role("region", name="hotel")
    expect(card).to_contain_text("5 entries")
    expect(card.locator("li", has_text="price")).to_contain_text("%")
    expect(window.get_by_role("region", name="other")).to_contain_text("Nobody has defined it")
    card.get_by_role("link", name="hotel").click()
    expect(window.locator("#trial .read")).to_contain_text("name")
    window.get_by_label("Selector of field 1", exact=True).fill("h1[")
    window.get_by_role("button", name="Save").click()
    expect(window.get_by_role("alert")).to_contain_text("fields.name: the CSS is wrong")
    expect(window.get_by_label("Selector of field 1", exact=True)).to_have_value("h1[")
    assert house.engine.tools.acquisition.categories.get("hotel").selectors.fields["name"].selector == "h1"
    house.mishaps.clear()  # the browser tells of the 422 itself


def test_everything_but_the_file_works_without_scripts(house: House, hotels: dict[str, QueueEntry]) -> None:
    window = house.window(house.key(), java_script_enabled=False)
    window.goto("/queue/add")
    expect(window.locator("noscript .note")).to_be_visible()
    expect(window.get_by_role("button", name="Import")).not_to_be_visible()
    window.goto("/queue?category=other")
    window.get_by_role("checkbox", name="Choose", exact=False).last.check()
    window.get_by_role("button", name="Switch off").click()
    assert not house.engine.tools.acquisition.queue.get(hotels["missing"].id).is_active
    window.goto("/queue?active=no")
    window.get_by_label("All that match").check()
    window.get_by_role("button", name="Switch on").click()
    window.get_by_role("button", name="Switch on").click()
    assert house.engine.tools.acquisition.queue.get(hotels["missing"].id).is_active
    window.goto("/queue/category?name=hotel")
    window.get_by_label("A stored page").fill(hotels["hotel/2"].source_url)
    window.get_by_label("Selector of field 2", exact=True).fill("main p")
    window.locator("noscript button").click()
    expect(window.locator("#trial .read")).to_contain_text("Quiet rooms above the lake")
    assert house.engine.tools.acquisition.categories.get("hotel").selectors.fields["price"].selector == ".price"


def test_the_queue_is_only_for_keys_that_see_all_projects(house: House, hotels: object) -> None:
    project = house.engine.tools.projects.manage.create(name="Only mine", website_url="http://mine.example/")
    window = house.window(house.key(Scope.ADMIN, project.id))
    window.goto("/")
    expect(window.get_by_role("link", name="Queue", exact=True)).to_have_count(0)
    for path in ("/queue", "/queue/add", "/queue/categories", "/queue/category", "/queue/1", "/queue/counts"):
        answer = window.goto(path)
        assert answer is not None
        assert answer.status == 403, path
    reader = house.window(house.key(Scope.READ))
    reader.goto("/queue")
    expect(reader.locator("#rows tr")).to_have_count(6)
    expect(reader.locator("#rows input")).to_have_count(0)
    reader.goto("/queue/category?name=hotel")
    expect(reader.locator("#trial .read")).to_contain_text("window.owned")
    expect(reader.get_by_role("button", name="Save")).to_have_count(0)
    house.mishaps.clear()  # the browser tells of each 403 itself


@pytest.mark.parametrize(
    "path", ["/queue", "/queue/add", "/queue/{id}", "/queue/categories", "/queue/category?name=hotel"]
)
def test_a_phone_shows_it_and_everybody_can_use_it(house: House, hotels: dict[str, QueueEntry], path: str) -> None:
    window = house.page(PHONE)
    window.goto(path.format(id=hotels["nasty"].id))
    assert window.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert serious_violations_day_and_night(window) == []
