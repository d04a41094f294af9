"""Checks request bodies in threads: to weigh people's expressions, selectors and templates takes a while, and in the
event loop everybody would wait for it.

FastAPI checks bodies in the event loop and has no option for that, so its function is replaced by one around it.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.dependencies import utils
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

Check = Callable[..., Coroutine[Any, Any, Any]]
_NAME = "request_body_to_args"
_check: Check = getattr(utils, _NAME)


async def check_in_thread(**given: Any) -> Any:
    if isinstance(given.get("received_body"), FormData):  # its files are read meanwhile
        return await _check(**given)
    return await run_in_threadpool(_checked, given)


def _checked(given: dict[str, Any]) -> Any:
    checking = _check(**given)
    try:
        checking.send(None)
    except StopIteration as done:
        return done.value
    checking.close()
    raise RuntimeError("FastAPI waits for something while it checks a body.")


def install() -> None:
    setattr(utils, _NAME, check_in_thread)
