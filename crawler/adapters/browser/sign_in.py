"""Sign in to a site by declared steps, and tell whether a page is read signed in.

The steps and their words: `domain/hosts/logins.py`. Nothing here is told in the browser's words, which would hold
secrets. What a site asks beyond the steps is known by its place, not by its name: a field in the form that no step
fills in, or a part of the form that comes from another site.
"""

import json
import time
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import parse_qsl, urlsplit

import ada_url
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import Page
from playwright.async_api import TimeoutError as PlaywrightTimeout

from crawler.adapters.browser.page_idle import Network, World
from crawler.adapters.browser.page_steps import PageNotOpened, StepFailed, StepTaker, locate
from crawler.domain.crawls.page_steps import XPATH, Do, Step
from crawler.domain.hosts.logins import MAX_SESSION, Login, SignedOut

CHECK_SECONDS = 10.0
"""For so long it is waited for what shows that one is signed in."""
ASKS_MORE = "The page asks for something that no step fills in: perhaps a captcha or a code."
STILL_ASKS = "After the steps the page still asks to sign in: wrong values, or a login that loops."
CIRCLES = "The redirects of the login go in circles."
TOO_LARGE = "The session is too large to be kept."

_VISIBLE = "const shown = one => one.checkVisibility() && !one.disabled;"
_PASSWORD = f"""(() => {{ {_VISIBLE}
  return [...document.querySelectorAll('input[type=password]')].slice(0, 50).some(shown);
}})()"""
_ASKS_MORE = f"""(filled => {{ {_VISIBLE}
  const own = [...document.querySelectorAll('input[type=password]')].filter(shown);
  const form = own.length ? own[0].form || own[0].parentElement : document.querySelector('form') || document.body;
  if (!form) return false;
  const known = one => filled.some(selector => {{ try {{ return one.matches(selector); }} catch {{ return false; }} }});
  const typed = ['text', 'tel', 'number', 'search', ''];
  const fields = [...form.querySelectorAll('input, textarea')].slice(0, 200).filter(one =>
    shown(one) && !one.value && typed.includes((one.getAttribute('type') || '').toLowerCase()) && !known(one));
  const foreign = [...form.querySelectorAll('iframe')].slice(0, 50).filter(shown).some(one => {{
    try {{ return new URL(one.src, location.href).origin !== location.origin && /^http/.test(one.src); }}
    catch {{ return false; }}
  }});
  return fields.length > 0 || foreign;
}})(%s)"""


class SignInFailed(Exception):
    """The login failed; its message is for people."""


@dataclass(slots=True)
class SignIn:
    page: Page
    world: World
    network: Network
    login: Login
    until: float

    async def run(self) -> str:
        """Sign in. Returns the session as JSON. Raises SignInFailed, or PageNotOpened for a site that is not there."""
        taker = StepTaker(self.page, self.world, self.network, self.until, self.login.secrets, self._may_fill)
        try:
            await taker.take(self.login.steps)
        except PageNotOpened as exc:
            if exc.name == "ERR_TOO_MANY_REDIRECTS":
                raise SignInFailed(CIRCLES) from None
            raise
        except StepFailed as exc:
            raise SignInFailed(f"{exc} {ASKS_MORE}" if await self._asks_more() else str(exc)) from None
        await self._check()
        return await self._session()

    async def _check(self) -> None:
        if self.login.signed_in:
            left = min(CHECK_SECONDS, self.until - time.monotonic())
            with suppress(PlaywrightTimeout):
                found = locate(self.page, self.login.signed_in)
                await found.wait_for(state="attached", timeout=max(1.0, left * 1000))
                return
        elif not await asks_for(self.page, self.login) and not await self.world.ask(_PASSWORD):
            return
        if await self._asks_more():
            raise SignInFailed(ASKS_MORE)
        if await self.world.ask(_PASSWORD):
            raise SignInFailed(STILL_ASKS)
        raise SignInFailed(f"After the steps nothing on the page matches {self.login.signed_in}.")

    async def _asks_more(self) -> bool:
        filled = [step.selector for step in _fills(self.login) if not step.selector.startswith(XPATH)]
        return bool(await self.world.ask(_ASKS_MORE % json.dumps(filled)))

    def _may_fill(self, url: str) -> bool:
        """Only where the login itself leads: a redirect to a stranger's page gets no secret."""
        declared = {origin_of(step.url) for step in self.login.steps if step.do is Do.OPEN}
        return origin_of(url) in declared | {self.login.origin}

    async def _session(self) -> str:
        kept = await self.page.context.storage_state()
        for session in (json.dumps(kept), json.dumps({**kept, "origins": []})):
            if len(session) <= MAX_SESSION:
                return session
        raise SignInFailed(TOO_LARGE)


async def is_signed_out(page: Page, world: World, login: Login) -> SignedOut:
    """Whether a page that was read with a session shows that it is over."""
    with suppress(PlaywrightError):
        if login.signed_in and await locate(page, login.signed_in).count():
            return SignedOut.NO
        if await asks_for(page, login) or (login.signed_in and await world.ask(_PASSWORD)):
            return SignedOut.ASKS
    return SignedOut.UNSURE if login.signed_in else SignedOut.NO


async def asks_for(page: Page, login: Login) -> bool:
    """Whether everything that the login fills in can be seen on the page: it is the sign-in page itself."""
    return all([await locate(page, step.selector).is_visible() for step in _fills(login)])


def leads_to_login(url: str, location: str, login: Login) -> bool:
    """Whether a redirect leads to a page that the login opens. Its query may say where to go on from there; but where a
    site has one path for all pages, another value of a parameter is another page."""
    try:
        target = ada_url.join_url(url, location)
    except ValueError:
        return False
    return any(_is_same_page(target, step.url) for step in login.steps if step.do is Do.OPEN)


def origin_of(url: str) -> str:
    try:
        return str(ada_url.URL(url).origin)
    except ValueError:
        return ""


def _without_query(url: str) -> str:
    return str(ada_url.URL(url).href).partition("#")[0].partition("?")[0]


def _is_same_page(one: str, other: str) -> bool:
    if _without_query(one) != _without_query(other):
        return False
    mine, its = (dict(parse_qsl(urlsplit(url).query, keep_blank_values=True)) for url in (one, other))
    return all(mine[name] == its[name] for name in mine.keys() & its.keys())


def _fills(login: Login) -> list[Step]:
    return [step for step in login.steps if step.do is Do.FILL]
