"""Other channels by their Apprise URL, each message from a short-lived process that may dial what we may.

Which URLs are taken at all: `domain/notices/channels.py`. The process: `apprise_child.py`. When:
`handlers/notices/notify_crawl.py`.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import Any

from crawler.adapters.judging.judge_places import JudgePlaces
from crawler.domain import judging
from crawler.domain.notices.notice import CLOSED, DeliveryResult
from crawler.domain.plain_text import one_line
from crawler.errors import JudgesBusy, Unavailable

SECONDS = 20
"""With a second or so for Python and Apprise to start."""
CHECKS = 3
"""Processes that check URLs at once, for all callers: starting one takes a second of CPU time. One caller has two of
them, and there is one more for who asks now and then."""
CHECK_WAIT_SECONDS = 8.0
_COMMAND = (sys.executable, "-P", "-m", "crawler.adapters.notices.apprise_child")
_NOT_ITS_BUSINESS = ("CRAWLER_",)


class AppriseSender:
    def __init__(self, egress_allow: Sequence[str], seconds: float = SECONDS) -> None:
        self._allow = list(egress_allow)
        self._seconds = seconds
        self._checks = JudgePlaces(CHECKS, 1)

    def __call__(self, url: str, title: str, body: str) -> DeliveryResult:
        """Never raises for what the other side does."""
        message = {"url": url, "title": title, "body": body, "allow": self._allow}
        try:
            answer = self._ask({"do": "send", "urls": [], "message": message})
        except subprocess.TimeoutExpired:
            return DeliveryResult(delivered=False, words=f"Not sent: no answer within {self._seconds:g} s.")
        if answer is None or "missing" in answer:
            why = "Apprise ended without a word" if answer is None else answer["missing"]
            return DeliveryResult(delivered=False, words=f"Not sent: {why}.")
        if answer["delivered"]:
            return DeliveryResult(delivered=True, words="Apprise's channel took it.")
        refused = bool(answer["refused"])
        why = CLOSED if refused else one_line(answer["words"]) or "the channel refused it"
        return DeliveryResult(delivered=False, words=f"Not sent: {why.rstrip('.')}.", blocked=refused)

    def why_unusable(self, urls: Sequence[str]) -> Sequence[str | None]:
        """Raises Unavailable if others have so much checked that there is no time for these."""
        who = judging.caller.get()
        try:
            with self._checks.place(who, CHECK_WAIT_SECONDS):
                began = time.monotonic()
                try:
                    found = self._ask({"do": "check", "urls": list(urls)})
                finally:
                    self._checks.used(who, time.monotonic() - began)
        except (JudgesBusy, subprocess.TimeoutExpired):
            words = "Apprise is asked about many channels at the moment; try again in a few seconds."
            raise Unavailable(words, retry_seconds=5) from None
        return found if found is not None else ["Apprise does not start here"] * len(urls)

    def _ask(self, question: dict[str, Any]) -> Any:
        done = subprocess.run(  # noqa: S603 - our own module
            _COMMAND,
            input=json.dumps(question).encode(),
            capture_output=True,
            env=_environment(),
            timeout=self._seconds,
            check=False,
        )
        return json.loads(done.stdout) if done.returncode == 0 else None


def _environment() -> dict[str, str]:
    """Neither our secrets, nor passwords kept for other programs, nor a proxy that would dial for it."""
    keep = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_ITS_BUSINESS)}
    return {name: value for name, value in keep.items() if not name.lower().endswith("_proxy")} | {"NETRC": os.devnull}
