"""Renders Jinja templates to pages. All values are escaped, and a missing variable is an error."""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response

from crawler import __version__
from crawler.bootstrap import App
from crawler.domain.api_keys import ApiKey
from crawler.domain.api_keys import Scope as KeyScope
from crawler.domain.changes.coverage import coverage_sentence, is_failing
from crawler.domain.crawls.seen_words import cut_words, merged_words, part_words, query_words, unseen_words
from crawler.domain.reason_words import name_of
from crawler.entrypoints.dashboard.serving import navigation, words
from crawler.entrypoints.dashboard.serving.assets import asset_url
from crawler.entrypoints.dashboard.serving.flash_messages import SAYINGS
from crawler.entrypoints.http.cookie_session import csrf_token

TEMPLATES = Path(__file__).parents[1] / "templates"


@lru_cache(maxsize=1)
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {
        "plain": words.plain,
        "middle": words.middle,
        "visible": words.visible,
        "number": words.number,
        "duration": words.duration,
        "size": words.size,
        "exact": words.exact,
        "until": words.until,
        "counted": words.counted,
        "split_url": words.split_url,
        "word_runs": words.word_runs,
        "reason_name": name_of,
        "coverage": coverage_sentence,
        "blind": is_failing,
        "unseen": unseen_words,
        "queries": query_words,
        "merged": merged_words,
        "cut": cut_words,
        "in_part": part_words,
    }
    made.tests["web"] = words.is_web
    made.globals |= {
        "asset": asset_url,
        "ago": words.ago,
        "ways": navigation,
        "version": __version__,
        "query": query,
    }
    return made


def query(**given: Any) -> str:
    """The query string for these values, without empty ones."""
    told = {name: value for name, value in given.items() if value not in (None, "", False)}
    return f"?{urlencode(told, doseq=True)}" if told else "?"


def page(request: Request, template: str, status: int = 200, **context: Any) -> HTMLResponse:
    text = environment().get_template(template).render({**_surroundings(request), **context})
    return HTMLResponse(text, status)


def is_part(request: Request) -> bool:
    """Whether htmx requests a part of the page to swap in."""
    return "hx-request" in request.headers and "hx-history-restore-request" not in request.headers


def go(path: str, said: str | None = None, **more: Any) -> Response:
    """Redirect to a page after a change (303). `more` is added to its query."""
    return RedirectResponse(path + (query(said=said, **more) if said or more else ""), 303)


def _said(request: Request) -> str | None:
    words_, count = SAYINGS.get(request.query_params.get("said", "")), request.query_params.get("n", "")
    if words_ is None or "{" not in words_:
        return words_
    known = int(count) if count.isascii() and count.isdigit() and len(count) < 12 else 0
    return words_.format(entries=words.counted(known, "entry", "entries"), projects=words.counted(known, "project"))


def _surroundings(request: Request) -> Mapping[str, Any]:
    tools: App = request.app.state.tools
    key: ApiKey | None = getattr(request.state, "key", None)
    session = getattr(request.state, "session", None)
    return {
        "key": key,
        "can_write": key is not None and key.scope.allows(KeyScope.WRITE),
        "can_admin": key is not None and key.scope.allows(KeyScope.ADMIN) and key.project_ids is None,
        "no_auth": tools.settings.no_auth,
        "csrf": csrf_token(session) if session else "",
        "product": tools.settings.product_name,
        "sees_all": key is not None and key.project_ids is None,
        "said": _said(request),
        "now": tools.clock(),
        "here": "",
    }
