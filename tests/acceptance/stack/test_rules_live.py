"""Several watch rules, recipients and mutes in one real run: from the rule to each message, as the backtest says."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import requests

from tests.acceptance.running import Running, eventually, receiving_posts
from tests.acceptance.stack.test_schedules_live import World, notified
from tests.integration.handmade import lay, page
from tests.integration.inbox import Inbox
from tests.site.client import Site

pytestmark = [pytest.mark.slow, pytest.mark.stack, pytest.mark.timeout(600)]

RULES: list[dict[str, Any]] = [
    {"pattern": "/lamp$", "fields": {"price": "price .cost"}, "tell": {"of": ["price below 100"]}},
    {"pattern": "/rope$", "products": True, "tell": {"of": ["back in stock"]}},
    {"pattern": "/terms$", "watch": ["main"], "tell": {"of": ["contains refund", "2 lines"], "match": "all"}},
    {"pattern": "/sail$", "fields": {"price": "price .cost", "picture": "img@src"}},
    {"pattern": r"/stock\.json$", "fields": {"left": "number $.left"}, "tell": {"of": ["left by 50 %"]}},
    {"pattern": "/news/", "tell": {"of": ["new page"]}},
]
MUTED = {"pattern": "/oar$", "fields": {"price": "price .cost"}}
TOLD = {
    "/lamp": "price 119.00 € → 99.00 €, −16.8 %",
    "/rope": "product.availability OutOfStock → InStock",
    "/terms": "it contains “refund”; at least 2 lines changed",
    "/sail": "price is not found any more; it was 70 kr",
    "/stock.json": "left 8 → 3, −62.5 %",
    "/news/1": "the page is new",
}


def priced(price: str, kind: str = "cost") -> str:
    return page("/", body=f"<p class={kind}>{price}</p><img src=/a.png>")


def rope(state: str) -> str:
    offer = f'{{"@type": "Product", "name": "Rope", "offers": {{"price": "5", "availability": "{state}"}}}}'
    return page("/", body=f'<script type="application/ld+json">{offer}</script><p>A rope.</p>')


def terms(*lines: str, aside: str = "One visitor") -> str:
    return page("/", body=f"<main>{''.join(f'<p>{line}</p>' for line in lines)}</main><aside>{aside}</aside>")


def stock(site: Site, left: int) -> None:
    site.mend()
    site.set_fault("/stock.json", content_type="application/json", body=f'{{"left": {left}, "at": 1}}')


@pytest.fixture
def world(up: Running, inbox: Inbox, tmp_path: Any) -> Iterator[World]:
    with receiving_posts() as (hook, posts), Site(tmp_path, hosts=1, pages=1) as site:
        paths = ["/lamp", "/rope", "/terms", "/sail", "/oar", "/stock.json"]
        lay(site, {"/": paths, "/lamp": priced("119,00 €"), "/rope": rope("OutOfStock"), "/sail": priced("70 kr")})
        lay(site, {"/terms": terms("We ship on Mondays.", "All is said."), "/oar": priced("$ 30")})
        stock(site, 8)
        project = up.project("Boats", site.url())
        types = ["text/html", "application/json"]
        settings = {"content_types": types, "significant_changed_share": 1.0, "ingest": True}
        up("PATCH", f"/projects/{project}", {"settings": settings})
        yield World(up, site, inbox, len(inbox.mails), hook, posts, project)


def crawled(world: World, **config: Any) -> dict[str, Any]:
    """The next crawl by the schedule, when it is over and its notices were sent or wait."""
    up, before, told = world.up, len(world.up.history(world.project)), notified(world.up)
    up.due_soon(world.project, **config)
    eventually(lambda: len(up.history(world.project)) > before, 120, "it began")
    eventually(lambda: up.history(world.project)[0]["completed_at"], 120, "it is over")
    eventually(lambda: notified(up) > told, 120, "its notices are sent")
    return up.history(world.project)[0]


def test_each_rule_tells_whom_it_should_and_the_backtest_agrees(world: World) -> None:
    up, path, site = world.up, f"/projects/{world.project}", world.site
    rules = [up("POST", f"{path}/watch-rules", rule)["id"] for rule in [*RULES, MUTED]]
    config = {"notify_on": "conditions", "notification_email": "ops@example.org"}
    crawled(world, **config)
    preview = up("POST", f"{path}/watch-preview", RULES[0])
    assert preview["pages"][0]["fields"][0]["value"] == "119.00 €"

    soon = datetime.now(UTC) + timedelta(minutes=4)
    later, hour_ago = f"{soon:%H:%M}", f"{soon - timedelta(hours=1):%H:%M}"
    cheap = {"notify_on": "conditions", "conditions": {"of": ["price below 100"], "pattern": "/lamp$"}}
    for order in (
        {"address": "cheap@example.org", **cheap, "subject_template": "Now {{ reasons[0].why }}"},
        {"address": "never@example.org", **cheap, "conditions": {"of": ["price below 9"], "pattern": "/lamp$"}},
        {"address": "muted@example.org", "notify_on": "any", "muted_until": f"{soon + timedelta(days=1):%FT%TZ}"},
        {"address": "digest@example.org", "notify_on": "any", "form": "daily", "time": later},
        {"address": "asleep@example.org", "notify_on": "any", "quiet_hours": [hour_ago, later]},
        {"address": world.hook, "channel": "webhook", **cheap, "body_template": '{"told": {{ reasons|length }}}'},
        {"address": world.hook.replace("http://", "gotify://") + "/AbCdEf12345", "channel": "apprise", **cheap},
    ):
        up("POST", f"{path}/recipients", {"channel": "email", **order})
    up("POST", f"{path}/mutes", {"rule": rules[-1], "until": f"{soon + timedelta(days=1):%FT%TZ}"})

    lay(site, {"/": ["/lamp", "/rope", "/terms", "/sail", "/oar", "/stock.json", "/news/1"], "/news/1": []})
    lay(site, {"/lamp": priced("99,00 €"), "/rope": rope("InStock"), "/sail": priced("70 kr", "amount")})
    lay(site, {"/terms": terms("We ship daily.", "A refund is possible."), "/oar": priced("$ 20")})
    stock(site, 3)
    crawl = crawled(world, **config)
    told = up("GET", f"{path}/crawl-history/{crawl['id']}/changes")
    assert "price 30 $ → 20 $, −33.3 %" in [one["words"] for one in told["watched"]], "what is muted is still listed"

    (trial,) = up("POST", f"{path}/schedule/backtest", {})["crawls"]
    why = {one["url"].removeprefix(site.url().rstrip("/")): one["why"] for one in trial["now"]["reasons"]}
    assert why == TOLD | {"/oar": "price 30 $ → 20 $, −33.3 %"}, "mutes are for a while: a backtest has none"
    eventually(lambda: len(world.mails()) >= 2, 120, "who is told at once")
    mails = {mail.to[0]: mail for mail in world.mails()}
    assert set(mails) == {"ops@example.org", "cheap@example.org"}
    assert mails["cheap@example.org"].mail["Subject"] == f"Now {TOLD['/lamp']}"
    text = mails["ops@example.org"].text()
    assert [words for words in TOLD.values() if words not in text] == []
    assert "You asked to be told: " + site.url("/oar") not in text
    eventually(lambda: len(world.posts) == 2, 120, "the webhook and the chat")
    assert {"told": 1} in [post.json for post in world.posts]

    feed = up("POST", "/change-feeds", {"project_id": world.project})["address"]
    atom = requests.get(f"{up.address}/feeds/{feed.rpartition('/')[2]}", timeout=30).text
    assert [words for words in ("refund", "/news/1", TOLD["/sail"]) if words not in atom] == []
    eventually(lambda: crawl["id"] in str(up("GET", f"{path}/documents")), 120, "documents name the crawl")
    notices = {one["target"]: one for one in world.notices()}
    assert [notices[f"{name}@example.org"]["status"] for name in ("digest", "asleep")] == ["held", "held"]
    known = up("POST", f"/notifications/{notices['ops@example.org']['id']}/acknowledge")
    assert known["acknowledged_at"]

    lay(site, {"/lamp": priced("98,00 €"), "/terms": terms("We ship daily.", "A refund is possible.", aside="Two")})
    up("PUT", f"{path}/watch-rules/{rules[0]}", {**RULES[0], "tell": {"of": ["price by 5 %"]}})
    quiet = crawled(world, **config)
    tried = {one["crawl_id"]: one["now"]["alert"] for one in up("POST", f"{path}/schedule/backtest", {})["crawls"]}
    assert tried == {quiet["id"]: False, crawl["id"]: True}
    eventually(lambda: {"digest@example.org", "asleep@example.org"} <= {m.to[0] for m in world.mails()}, 250, "later")
    assert sorted(mail.to[0] for mail in world.mails() if mail.to[0] == "ops@example.org") == ["ops@example.org"]
    assert not {"never@example.org", "muted@example.org"} & {mail.to[0] for mail in world.mails()}
