"""Who was told of what: found, read as text, and sent again to real receivers under the same id."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import redis
from playwright.sync_api import Browser, Page, expect

from crawler.domain.api_keys import Scope
from crawler.domain.crawls.crawl import CrawlType
from crawler.domain.crawls.project import Project
from crawler.domain.ids import new_id
from crawler.domain.notices.notice import Channel, NoticeKind, Target
from crawler.embedded import Servers
from tests.databases import MakeDatabase
from tests.integration.dashboard.house import PHONE, House, open_house, serious_violations_day_and_night
from tests.integration.inbox import Inbox, receiving_mail
from tests.integration.raw_server import Server, response, serving

pytestmark = pytest.mark.slow

SCRIPT = '<script>window.owned=1</script><img src=x onerror="window.owned=1">'
TURNED = "safe\u202egnp.exe\x1b[31m"


@pytest.fixture(scope="module")
def inbox() -> Iterator[Inbox]:
    with receiving_mail() as box:
        yield box


@pytest.fixture(scope="module")
def module_house(
    make_module_database: MakeDatabase,
    embedded_servers: Servers,
    people_browser: Browser,
    inbox: Inbox,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[House]:
    """With a mail server."""
    with redis.Redis.from_url(embedded_servers.redis_url) as client:
        client.flushall()
    data_dir: Path = tmp_path_factory.mktemp("data")
    mail = {"smtp_url": f"smtp://127.0.0.1:{inbox.port}", "mail_from": "crawler@example.org"}
    with open_house(
        make_module_database(), embedded_servers.redis_url, people_browser, data_dir=data_dir, **mail
    ) as house:
        yield house


class Told(NamedTuple):
    project: Project
    mail: str
    hook: str
    receiver: Server
    answers: list[bytes]


@pytest.fixture(scope="module")
def told(module_house: House) -> Iterator[Told]:
    """A mail nobody has seen yet and a webhook that failed, both about a nasty site."""
    tools = module_house.engine.tools
    project = tools.projects.manage.create(name=f"Nasty {SCRIPT[:60]}", website_url="http://127.0.0.1:9/")
    crawl = tools.crawls.start(project.id, crawl_type=CrawlType.SCHEDULED)
    tools.crawls.control.cancel(crawl.id)
    answers = [response(f"no {SCRIPT} {TURNED}".encode(), "500 Internal Server Error")]
    with serving(lambda *_: answers[-1]) as receiver:
        made = []
        mail, hook = Target(Channel.EMAIL, "ops@example.org"), Target(Channel.WEBHOOK, receiver.url("/hook"))
        letter = {"subject": f"[Crawler] {SCRIPT}", "text": f"{SCRIPT}\n{TURNED}", "html": f"<p>{SCRIPT}</p>"}
        event = {"event": "crawl_completed", "project_name": SCRIPT, "more": TURNED}
        for target, payload in ((mail, letter), (hook, event)):
            identity = new_id(int(tools.clock().timestamp() * 1000))
            assert tools.notices.notifications.claim(
                identity, project.id, crawl.id, NoticeKind.CHANGES, target, payload
            )
            made.append(identity)
        tools.notices.notify_crawl.resend(made[1])
        yield Told(project, str(made[0]), str(made[1]), receiver, answers)


def inert(page: Page) -> None:
    assert page.evaluate("window.owned") is None
    assert page.locator("main img, main script, main iframe").count() == 0
    assert "\u202e" not in page.content()
    assert "\x1b" not in page.content()


def test_the_log_and_each_notice_are_text_that_everybody_can_read(house: House, told: Told) -> None:
    page = house.page()
    for path in ("/notifications", f"/notifications/{told.mail}", f"/notifications/{told.hook}"):
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(path)
        for part in page.locator("details.deeper").all():
            part.locator("summary").click()
        expect(page.locator("main")).to_contain_text("<script>window.owned")
        inert(page)
        assert serious_violations_day_and_night(page) == []
        page.set_viewport_size(PHONE)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert serious_violations_day_and_night(page) == []


def test_filters_narrow_the_log_without_a_reload(house: House, told: Told) -> None:
    page = house.page()
    page.goto("/notifications")
    expect(page.locator("#rows tr")).to_have_count(2)
    page.get_by_label("Channel", exact=True).select_option("webhook")
    expect(page.locator("#rows tr")).to_have_count(1)
    expect(page.locator("#rows")).to_contain_text("500 no")
    page.get_by_label("Channel", exact=True).select_option("")
    page.get_by_role("searchbox", name="Find", exact=True).fill("ops@")
    expect(page.locator("#rows tr")).to_have_count(1)
    expect(page.locator("#rows")).to_contain_text("ops@example.org")
    page.get_by_role("searchbox", name="Find", exact=True).fill("100%_nobody")
    expect(page.get_by_text("No notification matches.")).to_be_visible()
    page.goto(f"/notifications?project={told.project.id}&status=failed")
    expect(page.locator("#rows tr")).to_have_count(1)


def test_a_mail_is_sent_again_only_after_a_question(house: House, told: Told, inbox: Inbox) -> None:
    page = house.page()
    page.goto(f"/notifications/{told.mail}")
    page.get_by_role("button", name="Send again").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("It keeps its id")
    page.keyboard.press("Escape")
    assert inbox.mails == []
    page.get_by_role("button", name="Send again").click()
    dialog.get_by_role("button", name="Send again").click()
    expect(page.get_by_text("It was sent again and delivered.")).to_be_visible()
    expect(page.locator("h1 .badge")).to_have_text("Sent")
    (received,) = inbox.mails
    assert received.to == ["ops@example.org"]
    assert told.mail in str(received.mail["Message-ID"])


def test_a_webhook_is_sent_again_under_its_id_and_a_refusal_is_told(house: House, told: Told) -> None:
    page = house.page()
    page.goto(f"/notifications/{told.hook}")

    def send_again() -> None:
        page.get_by_role("button", name="Send again").click()
        page.get_by_role("dialog").get_by_role("button", name="Send again").click()

    send_again()
    expect(page.get_by_text("not delivered. The response says why")).to_be_visible()
    told.answers.append(response(b"thanks"))
    send_again()
    expect(page.get_by_text("It was sent again and delivered.")).to_be_visible()
    expect(page.locator("main")).to_contain_text("200 thanks")
    sent = [{name.lower(): value for name, value in one.headers.items()} for one in told.receiver.requests]
    ids = {headers["webhook-id"] for headers in sent}
    assert ids == {told.hook}


def test_a_key_of_other_projects_sees_nothing_of_it_and_a_reader_cannot_send(house: House, told: Told) -> None:
    tools = house.engine.tools
    other = tools.projects.manage.create(name="Other", website_url="http://other.example/")
    page = house.window(house.key(Scope.ADMIN, other.id))
    page.goto("/notifications")
    expect(page.get_by_text("No notification was sent yet")).to_be_visible()
    for path in (f"/notifications/{told.mail}", f"/notifications?project={told.project.id}"):
        page.goto(path)
        expect(page.locator("main")).not_to_contain_text("Nasty")
    house.mishaps.clear()  # the browser tells of the 404 itself
    reader = house.window(house.key(Scope.READ))
    reader.goto(f"/notifications/{told.mail}")
    expect(reader.get_by_role("button", name="Send again")).to_have_count(0)
