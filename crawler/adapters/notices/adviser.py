"""Advice from any service that speaks OpenAI's `POST /chat/completions`.

Its address is the operator's own setting, as that of the embedder is: it may be inside the house. It is asked once,
without repeating, and all of it has a limit in time, however slowly it answers: a notice does not wait for it.
"""

from collections.abc import Sequence
from typing import Any

import orjson

from crawler.adapters.curl.handle import TransferOptions
from crawler.adapters.curl.post_json import AnswerTooLong, NoAnswer, post_json
from crawler.domain.changes.advice import Message, NoAdvice

LONGEST_BODY = 256 * 1024
MOST_TOKENS = 300
OK = 200


class Adviser:
    def __init__(self, url: str, model: str, options: TransferOptions, *, key: str | None = None) -> None:
        self._url = f"{url.rstrip('/')}/chat/completions"
        self.model = model
        self._options = options
        self._key = key

    def ask(self, prompt: Sequence[Message], seconds: float) -> str:
        """What the model says. Raises NoAdvice, after so long at most."""
        body = {"model": self.model, "messages": list(prompt), "temperature": 0, "max_tokens": MOST_TOKENS}
        try:
            answer = post_json(self._options, self._url, body, self._key, seconds, LONGEST_BODY)
        except AnswerTooLong as exc:
            raise NoAdvice("The model's service answers more than it was asked for.") from exc
        except NoAnswer as exc:
            why = "in time" if exc.is_late else f"({exc})"
            raise NoAdvice(f"The model's service does not answer {why}.") from exc
        if answer.status != OK:
            raise NoAdvice(f"The model's service answers {answer.status}.")
        return _said(answer.body)


def _said(body: bytes) -> str:
    try:
        said: Any = orjson.loads(body)["choices"][0]["message"]["content"]
    except (orjson.JSONDecodeError, KeyError, IndexError, TypeError) as exc:
        raise NoAdvice("The model's service answers something else than a message.") from exc
    if not isinstance(said, str):
        raise NoAdvice("The model's service answers something else than a message.")
    return said
