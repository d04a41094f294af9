"""Request gate: intercepts a tab's requests while one page is visited, and decides how the visit ends.

Egress is checked by the proxy. This file does the rest: the main document may be requested, and nothing else may take
its place. A redirect, a meta refresh or a script that leads elsewhere is stopped *before* the other URL is requested.
It is the visit's result, and the engine decides whether that URL may be fetched. A response that needs no rendering (an
error, another type) ends the visit before its body is read. Images and fonts are blocked unless wanted, and the
credentials of the page's origin go with what the page itself asks of that origin.

A document is requested once per visit. A page that would reload itself is kept as it stands; if it has set a cookie
meanwhile, the engine may request it again with the cookie, in the host's next turn.

What the engine then does with a redirect: `handlers/engine/record_page.py`.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import ada_url
from playwright.async_api import CDPSession

from crawler.adapters.browser.credential_cookies import CredentialCookies
from crawler.adapters.browser.egress_proxy import Door, Endpoint
from crawler.domain.crawls.fetching import FetchRequest
from crawler.domain.hosts.egress import Target, target_of
from crawler.domain.pages.files import kind_of
from crawler.domain.pages.robots_directives import join_fields
from crawler.domain.reasons import Reason
from crawler.errors import EgressRefused

PICTURES = ("Image", "Media", "Font")
PING = "Ping"
PREFETCH = "prefetch"
"""Other pages of the site that the browser would request in advance. They are blocked."""
ICON = "*/favicon.ico"
"""The favicon has no resource type of its own, so it is matched by its path."""
REDIRECTS = frozenset({301, 302, 303, 307, 308})
WITHOUT_BODY = frozenset({204, 205, 304})
UNHEARD = frozenset({"content-disposition", "speculation-rules"})
"""Response headers that are removed: the tab would save the page as a file, or request further pages in advance."""
TOO_MANY = 429
MOST_DOCUMENTS = 30
"""That a tab may open which goes from page to page."""
FORBIDDEN = 403
"""A 403 page is run: it may be a bot check that lets the browser in by reloading itself."""


class Answer(NamedTuple):
    """The head of the main document's response."""

    status: int
    headers: dict[str, str]
    sent_at: float
    head_at: float

    @property
    def media_type(self) -> str:
        return _media_type(self.headers)


class Outcome(NamedTuple):
    """How a visit ended without a rendered document."""

    status: int = 0
    location: str = ""
    failure: Reason | None = None
    error: str = ""
    is_file: bool = False
    unready: bool = False
    """A step before reading could not be taken."""


FILE = Outcome(failure=Reason.CONTENT_TYPE, error="The browser got a file, not a page.", is_file=True)


class Gate:
    def __init__(
        self,
        request: FetchRequest,
        door: Door,
        on_sent: Callable[[float], None],
        *,
        images: bool,
        max_bytes: int,
        is_free: bool = False,
    ) -> None:
        """`is_free`: the tab may go from page to page, as declared steps lead it."""
        self._request = request
        self._door = door
        self._on_sent = on_sent
        self._images = images
        self._is_free = is_free
        self._documents = 0
        self._max_bytes = max_bytes
        self._wanted = without_fragment(request.url)
        self._target = target_of(request.url)
        self._own_cookies = CredentialCookies(request.headers, self._target)
        self._own_cookies.bar(door)
        self.session: CDPSession
        self.frame = ""
        self._answers: set[asyncio.Task[None]] = set()
        self._loaded = self._stays = False
        self.answer: Answer | None = None
        self.outcome: Outcome | None = None
        self._decided = asyncio.Event()
        self.restless = asyncio.Event()
        """Set when the page wanted to reload itself; it is kept as it stands."""
        self.is_sent_back = False
        """Set when the response is a redirect to its own URL."""

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(self._target.host, self._target.port)

    async def stand_at(self, session: CDPSession) -> None:
        """Start to intercept all requests of the tab."""
        self.session = self._own_cookies.session = session
        tree = await session.send("Page.getFrameTree")
        self.frame = tree["frameTree"]["frame"]["id"]
        session.on("Fetch.requestPaused", self._on_paused)
        await session.send("Fetch.enable", {"patterns": self._patterns()})

    def decide(self, outcome: Outcome) -> None:
        """Set the visit's outcome; the first one counts."""
        if self.outcome is None:
            self.outcome = outcome
            self._decided.set()

    def stay(self) -> None:
        """From now on ignore that the page leads elsewhere."""
        self._stays = True

    async def wait_decided(self) -> None:
        await self._decided.wait()

    def leave(self) -> None:
        for task in self._answers:
            task.cancel()

    def _patterns(self) -> list[dict[str, str]]:
        patterns = [{"resourceType": "Document", "requestStage": stage} for stage in ("Request", "Response")]
        kinds = (PING, "Fetch") if self._images else (PING, "Fetch", *PICTURES)
        urls = (() if self._images else (ICON,)) + ((f"{_origin(self._target)}/*",) if self._request.headers else ())
        patterns += [{"resourceType": kind, "requestStage": "Request"} for kind in kinds]
        patterns += [{"urlPattern": url, "requestStage": "Request"} for url in urls]
        return patterns + self._own_cookies.patterns(_origin(self._target))

    def _on_paused(self, event: dict[str, Any]) -> None:
        task = asyncio.ensure_future(self._reply(event))
        self._answers.add(task)
        task.add_done_callback(self._replied)

    def _replied(self, task: asyncio.Task[None]) -> None:
        self._answers.discard(task)
        if not task.cancelled():
            task.exception()  # the tab is gone, or went on without a reply: there is nothing left to release

    async def _reply(self, event: dict[str, Any]) -> None:
        is_main = event["resourceType"] == "Document" and event.get("frameId") == self.frame
        has_answer = "responseStatusCode" in event or "responseErrorReason" in event
        if has_answer:
            await self._own_cookies.forget()
            verb, more = self._judge_answer(event) if is_main else ("continueRequest", {})
        elif is_main:
            verb, more = self._judge_document(event)
        elif self._is_unwanted(event):
            verb, more = "failRequest", {"errorReason": "BlockedByClient"}
        else:
            verb, more = "continueRequest", self._own_headers(event) or await self._own_cookies.kept_from(event)
        await self.session.send(f"Fetch.{verb}", {"requestId": event["requestId"], **more})

    def _judge_document(self, event: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """Judge the tab's request for a main document: the one of this visit, or another."""
        if self._is_free:
            return self._judge_free(event)
        url = event["request"]["url"]
        late = self._request.start_by is not None and time.monotonic() > self._request.start_by
        if not self._loaded and late:
            self.decide(Outcome(failure=Reason.TIMEOUT, error="It was too late to send the request."))
        elif self._loaded and "networkId" not in event:
            pass  # a download (`<a download>`): it would not replace the document
        elif self._stays:
            pass  # we pressed a button, the page did not send us away
        elif without_fragment(url) != self._wanted:
            self.decide(Outcome(status=302, location=url + event["request"].get("urlFragment", "")))
        elif not self._loaded and self.outcome is None:
            self._loaded = True
            return "continueRequest", self._own_headers(event)
        else:
            self.restless.set()
        return "failRequest", {"errorReason": "Aborted"}

    def _judge_free(self, event: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        self._documents += 1
        if self._documents <= MOST_DOCUMENTS:
            return "continueRequest", self._own_headers(event)
        self.decide(Outcome(failure=Reason.REDIRECT_LOOP, error=f"It opened more than {MOST_DOCUMENTS} pages."))
        return "failRequest", {"errorReason": "Aborted"}

    def _judge_free_answer(self, event: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """A site that is down or not to be reached says nothing about a login."""
        status = event.get("responseStatusCode", 0)
        target = target_of(event["request"]["url"])
        if failure := self._door.failures.get(Endpoint(target.host, target.port)):
            self.decide(Outcome(failure=failure.reason, error=failure.message))
        elif status == TOO_MANY or status >= 500:
            self.decide(Outcome(status=status))
        return "continueRequest", {}

    def _judge_answer(self, event: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        self._note_head(event)
        if self._is_free:
            return self._judge_free_answer(event)
        if "responseErrorReason" in event:
            return "continueRequest", {}  # the tab's own error says more
        status, headers = event["responseStatusCode"], _joined(event.get("responseHeaders", ()))
        outcome = self._early_end(status, headers)
        if outcome is not None:
            self.decide(outcome)
            return "failRequest", {"errorReason": "Aborted"}
        if not UNHEARD.isdisjoint(headers):
            kept = [h for h in event["responseHeaders"] if h["name"].lower() not in UNHEARD]
            return "continueResponse", {"responseCode": status, "responseHeaders": kept}
        return "continueRequest", {}

    def _note_head(self, event: dict[str, Any]) -> None:
        now = time.time()
        sent_at = min(now, self._door.sent_at.get(self.endpoint, 0.0))
        if sent_at:
            self._on_sent(sent_at)
        if "responseStatusCode" in event:
            headers = _joined(event.get("responseHeaders", ()))
            self.answer = Answer(event["responseStatusCode"], headers, sent_at, now)

    def _early_end(self, status: int, headers: dict[str, str]) -> Outcome | None:
        """The outcome if this response ends the visit without its body."""
        if failure := self._door.failures.get(self.endpoint):  # the proxy responded, not the site
            self.answer = None
            return Outcome(failure=failure.reason, error=failure.message)
        if status in REDIRECTS:
            return self._redirected(status, headers.get("location", ""))
        if status in WITHOUT_BODY or not (200 <= status < 300 or status == FORBIDDEN):
            return Outcome(status=status)
        content_type = headers.get("content-type", "")
        if status != FORBIDDEN:
            if refusal := self._request.refusal(content_type):
                return Outcome(status=status, failure=Reason.CONTENT_TYPE, error=refusal)
            if kind_of(content_type, b""):  # a browser would show it in a page of its own
                return FILE
        length = headers.get("content-length", "")
        if length.isascii() and length.isdigit() and int(length) > self._max_bytes:
            error = f"The body is larger than {self._max_bytes} bytes."
            return Outcome(status=status, failure=Reason.TOO_LARGE, error=error)
        return None

    def _redirected(self, status: int, location: str) -> Outcome:
        with suppress(ValueError):
            self.is_sent_back = without_fragment(ada_url.join_url(self._request.url, location)) == self._wanted
        return Outcome(status=status, location=location)

    def _is_unwanted(self, event: dict[str, Any]) -> bool:
        if event["resourceType"] == PING or event["request"]["headers"].get("Sec-Purpose", "").startswith(PREFETCH):
            return True
        is_icon = event["request"]["url"].endswith(ICON.removeprefix("*"))
        return not self._images and (event["resourceType"] in PICTURES or is_icon)

    def _own_headers(self, event: dict[str, Any]) -> dict[str, Any]:
        """The project's headers, if the page itself sends a request to the origin they are meant for.

        Not for requests of a frame: another site's page in it would act with our rights.
        """
        url, is_page = event["request"]["url"], event.get("frameId") == self.frame
        if not self._request.headers or not is_page or not self._is_own(url):
            return {}
        own = {name.lower() for name, _ in self._request.headers}
        sent = [(n, v) for n, v in event["request"]["headers"].items() if n.lower() not in own]
        return {"headers": [{"name": n, "value": v} for n, v in (*sent, *self._request.headers)]}

    def _is_own(self, url: str) -> bool:
        try:
            return target_of(url) == self._target
        except EgressRefused:
            return False


def without_fragment(url: str) -> str:
    """The URL without its fragment, spelled as the browser does, so that two spellings can be compared."""
    try:
        return str(ada_url.URL(url).href).partition("#")[0]
    except ValueError:
        return url.partition("#")[0]


def _media_type(headers: dict[str, str]) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def _origin(target: Target) -> str:
    usual = {"http": 80, "https": 443}[target.scheme]
    return f"{target.scheme}://{target.host}" + ("" if target.port == usual else f":{target.port}")


def _joined(fields: Any) -> dict[str, str]:
    headers: dict[str, str] = {}
    for field in fields:
        name = field["name"].lower()
        headers[name] = join_fields(name, headers[name], field["value"]) if name in headers else field["value"]
    return headers
