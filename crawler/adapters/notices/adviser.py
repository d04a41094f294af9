"""Advice from any service that speaks OpenAI's `POST /chat/completions`.

Its address is the operator's own setting, as that of the embedder is: it may be inside the house. Redirects are not
followed, and nothing of the environment is used: the key goes to that address alone. It is asked once, without
repeating: a notice does not wait for it.
"""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson
import requests

from crawler.domain.changes.advice import Message, NoAdvice

CONNECT_SECONDS = 3.0
LONGEST_BODY = 256 * 1024
MOST_TOKENS = 300


class Adviser:
    def __init__(self, url: str, model: str, *, key: str | None = None, ca_bundle: Path | None = None) -> None:
        self._url = f"{url.rstrip('/')}/chat/completions"
        self.model = model
        self._session = requests.Session()
        self._session.trust_env = False
        if ca_bundle is not None:
            self._session.verify = str(ca_bundle)
        if key:
            self._session.headers["Authorization"] = f"Bearer {key}"

    def ask(self, prompt: Sequence[Message], seconds: float) -> str:
        """What the model says. Raises NoAdvice, after so long at most."""
        until = time.monotonic() + seconds
        body = {"model": self.model, "messages": list(prompt), "temperature": 0, "max_tokens": MOST_TOKENS}
        try:
            with self._session.post(
                self._url,
                data=orjson.dumps(body),
                headers={"Content-Type": "application/json"},
                timeout=(min(CONNECT_SECONDS, seconds), seconds),
                allow_redirects=False,
                stream=True,
            ) as answer:
                if answer.status_code != requests.codes.ok:
                    raise NoAdvice(f"The model's service answers {answer.status_code}.")
                return _said(_body(answer, until))
        except requests.RequestException as exc:
            raise NoAdvice(f"The model's service does not answer ({type(exc).__name__}).") from exc


def _body(answer: requests.Response, until: float) -> bytes:
    body = bytearray()
    for part in answer.iter_content(8192):
        body += part
        if len(body) > LONGEST_BODY:
            raise NoAdvice("The model's service answers more than it was asked for.")
        if time.monotonic() > until:
            raise NoAdvice("The model's service does not answer in time.")
    return bytes(body)


def _said(body: bytes) -> str:
    try:
        said: Any = orjson.loads(body)["choices"][0]["message"]["content"]
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError) as exc:
        raise NoAdvice("The model's service answers something else than a message.") from exc
    if not isinstance(said, str):
        raise NoAdvice("The model's service answers something else than a message.")
    return said
