"""One POST of JSON to a service of the operator's own, such as a model, all of it within a time.

The time holds however the answer comes, also if its head comes a byte at a time. Redirects are not followed, and
nothing of the environment (proxies, .netrc) is used: a key goes to that address alone.
"""

from io import BytesIO
from typing import Any, NamedTuple

import orjson
import pycurl

from crawler.adapters.curl.handle import TransferOptions, new_handle


class NoAnswer(Exception):
    """Nothing came, or not all of it in time."""

    def __init__(self, number: int) -> None:
        super().__init__(f"error {number}")
        self.is_late = number == pycurl.E_OPERATION_TIMEDOUT


class AnswerTooLong(Exception):
    """More came than was asked for."""


class Answer(NamedTuple):
    status: int
    body: bytes
    retry_seconds: int
    """After which the service wants to be asked again; 0 if it does not say."""


def post_json(options: TransferOptions, url: str, body: Any, key: str | None, seconds: float, longest: int) -> Answer:
    """Raises NoAnswer after so many seconds at most, and AnswerTooLong after so many bytes."""
    said, curl = BytesIO(), new_handle(options)
    headers = [
        b"Content-Type: application/json",
        b"Expect:",
        *([f"Authorization: Bearer {key}".encode()] if key else []),
    ]
    try:
        curl.setopt(pycurl.URL, url)
        curl.setopt(pycurl.POSTFIELDS, orjson.dumps(body))
        curl.setopt(pycurl.HTTPHEADER, headers)
        curl.setopt(pycurl.TIMEOUT_MS, max(1, int(seconds * 1000)))
        curl.setopt(pycurl.LOW_SPEED_TIME, 0)  # a model may think for long
        curl.setopt(pycurl.WRITEFUNCTION, lambda part: said.write(part) if said.tell() <= longest else 0)
        curl.perform()
        return Answer(int(curl.getinfo(pycurl.RESPONSE_CODE)), said.getvalue(), int(curl.getinfo(pycurl.RETRY_AFTER)))
    except pycurl.error as exc:
        raise (AnswerTooLong() if said.tell() > longest else NoAnswer(exc.args[0])) from exc
    finally:
        curl.close()
