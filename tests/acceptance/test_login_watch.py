"""A price behind a login, from the rule to mail and webhook: real beat, workers, browser and mail server."""

from pathlib import Path
from typing import Any

import pytest

from crawler.adapters.browser.fetcher import why_unavailable
from tests.acceptance.running import Running, eventually, receiving_posts, running
from tests.integration.browser.login_site import PASSWORD, USER, LoginSite, login_site
from tests.integration.chat_server import chat_server, verdict
from tests.integration.inbox import receiving_mail

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

STEPS_BEFORE_READING = ["click .cookies button if there"]
RULE = {"pattern": "/a$", "fields": {"price": "price .cost"}, "tell": {"of": ["price below 100"]}}


def lay(site: LoginSite, price: str) -> None:
    banner = "<div class=cookies><button onclick='this.parentElement.remove()'>Fine</button> Biscuits</div>"
    site.pages = {"/": "<a href=/a>A</a>", "/a": f"{banner}<h1>Rope</h1><p class=cost>{price}</p>"}


def crawled(up: Running, project: str, **config: Any) -> dict[str, Any]:
    """The next crawl by the schedule, when it is over."""
    before = len(up.history(project))
    up.due_soon(project, **config)
    eventually(lambda: len(up.history(project)) > before and up.history(project)[0]["completed_at"], 90, "a crawl")
    return up.history(project)[0]


@pytest.mark.skipif(why_unavailable(None) is not None, reason="no browser")
def test_a_price_behind_a_login_goes_from_its_rule_to_the_message_and_the_backtest_agrees(tmp_path: Path) -> None:
    with login_site() as site, receiving_mail() as inbox, receiving_posts() as (hook, posts), chat_server() as model:
        model.answer = lambda _: verdict("The rope got cheaper.")
        settings = {
            "CRAWLER_SMTP_URL": f"smtp://127.0.0.1:{inbox.port}", "CRAWLER_MAIL_FROM": "crawler@example.org",
            "CRAWLER_ADVISE_URL": model.url, "CRAWLER_ADVISE_MODEL": "twin", "SITE_USER": USER, "SITE_KEY": PASSWORD,
        }  # fmt: skip
        lay(site, "119,00 €")
        with running(tmp_path, **settings) as up:
            project = up.project("Ropes", site.url("/"))
            up("PATCH", f"/projects/{project}", {"settings": {"render": "auto", "page_steps": STEPS_BEFORE_READING}})
            given = [part for step in site.steps() for part in ("--step", step)]
            secrets = ("--secret-env", "user=SITE_USER", "--secret-env", "password=SITE_KEY")
            assert up.cli("login", "set", project, *given, *secrets, "--signed-in", "#hello").returncode == 0
            tried = up.cli("login", "try", project)
            assert (tried.returncode, "Signed in to" in tried.stdout) == (0, True), tried.stdout + tried.stderr
            up("POST", f"/projects/{project}/watch-rules", RULE)
            told = {
                "notify_on": "conditions", "notification_email": "ops@example.org", "notification_webhook": hook,
                "advice": {"wish": "Tell me of prices."},
            }  # fmt: skip
            assert crawled(up, project, **told)["status"] == "completed"
            lay(site, "99,00 €")
            site.sessions.clear()  # the site signs everybody out
            cheap = crawled(up, project, **told)
            eventually(lambda: inbox.mails and posts, 60, "it was told")
            text = inbox.mails[0].text()
            assert "price 119.00 € → 99.00 €, −16.8 %" in text
            assert "The rope got cheaper." in text
            assert posts[0].json["advice"][0]["matters"] is True
            assert "Biscuits" not in str(
                up("GET", f"/projects/{project}/crawl-history/{cheap['id']}/changes", include="text")
            )
            trials = up("POST", f"/projects/{project}/schedule/backtest", {})["crawls"]
            assert [(one["crawl_id"], one["now"]["alert"]) for one in trials] == [(cheap["id"], True)]
            assert site.signed == 2
            logs = "".join(path.read_text(errors="replace") for path in (up.cli.data_dir / "logs").glob("*.log"))
            assert PASSWORD not in logs + text + str(posts[0].json)
