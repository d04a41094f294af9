"""Advice from any service that speaks OpenAI's `POST /chat/completions`.

Its address is the operator's own setting, as that of the embedder is: it may be inside the house. Redirects are not
followed, and nothing of the environment is used: the key goes to that address alone. It is asked once, without
repeating, and all of it has a limit in time, however slowly it answers: a notice does not wait for it.
"""

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import orjson
import pycurl

from crawler.adapters.curl.handle import TransferOptions, new_handle
from crawler.domain.changes.advice import Message, NoAdvice

LONGEST_BODY = 256 * 1024
MOST_TOKENS = 300
OK = 200


class Adviser:
    def __init__(self, url: str, model: str, options: TransferOptions, *, key: str | None = None) -> None:
        self._url = f"{url.rstrip('/')}/chat/completions"
        self.model = model
        self._options = options
        self._headers = [
            "Content-Type: application/json",
            "Expect:",
            *([f"Authorization: Bearer {key}"] if key else []),
        ]

    def ask(self, prompt: Sequence[Message], seconds: float) -> str:
        """What the model says. Raises NoAdvice, after so long at most."""
        body = {"model": self.model, "messages": list(prompt), "temperature": 0, "max_tokens": MOST_TOKENS}
        said, curl = BytesIO(), new_handle(self._options)
        try:
            curl.setopt(pycurl.URL, self._url)
            curl.setopt(pycurl.POSTFIELDS, orjson.dumps(body))
            curl.setopt(pycurl.HTTPHEADER, self._headers)
            curl.setopt(pycurl.TIMEOUT_MS, max(1, int(seconds * 1000)))
            curl.setopt(pycurl.LOW_SPEED_TIME, 0)  # a model may think for long
            curl.setopt(pycurl.WRITEFUNCTION, lambda part: said.write(part) if said.tell() <= LONGEST_BODY else 0)
            curl.perform()
            status = int(curl.getinfo(pycurl.RESPONSE_CODE))
        except pycurl.error as exc:
            raise NoAdvice(_why(exc, is_large=said.tell() > LONGEST_BODY)) from exc
        finally:
            curl.close()
        if status != OK:
            raise NoAdvice(f"The model's service answers {status}.")
        return _said(said.getvalue())


def _why(exc: pycurl.error, *, is_large: bool) -> str:
    if is_large:
        return "The model's service answers more than it was asked for."
    if exc.args[0] == pycurl.E_OPERATION_TIMEDOUT:
        return "The model's service does not answer in time."
    return f"The model's service does not answer (error {exc.args[0]})."


def _said(body: bytes) -> str:
    try:
        said: Any = orjson.loads(body)["choices"][0]["message"]["content"]
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError) as exc:
        raise NoAdvice("The model's service answers something else than a message.") from exc
    if not isinstance(said, str):
        raise NoAdvice("The model's service answers something else than a message.")
    return said
