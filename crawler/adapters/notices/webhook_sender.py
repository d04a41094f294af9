"""Posts to people's webhooks under the egress rule: the address that is dialled decides, and redirects are answers.

Body and signature are made in `domain/notices/webhook.py`.
"""

from io import BytesIO
from socket import AF_INET, AF_INET6, socket
from typing import Any

import pycurl

from crawler.adapters.curl.handle import TransferOptions, new_handle
from crawler.domain.hosts.egress import closed_words
from crawler.domain.notices.channels import without_address
from crawler.domain.notices.notice import DeliveryResult
from crawler.domain.urls.url import parse

SECONDS = 15
KEPT_BYTES = 2000
READ_BYTES = 256 * 1024
"""Of what a receiver says. Most say little; one that never stops is not listened to for all of its time."""
GONE = 410


class WebhookSender:
    def __init__(self, options: TransferOptions) -> None:
        self._options = options

    def __call__(self, url: str, body: bytes, headers: dict[str, str]) -> DeliveryResult:
        """Never raises for what the other side does."""
        target, refused = parse(url), []

        def open_socket(_purpose: int, dialled: Any) -> int:
            address, port = dialled.addr[:2]
            if dialled.family in {AF_INET, AF_INET6} and self._options.rule.allows(address, port, target.hostname):
                return socket(dialled.family, dialled.socktype, dialled.protocol).detach()
            refused.append(dialled.addr)
            return int(pycurl.SOCKET_BAD)

        said = BytesIO()
        curl = new_handle(self._options)
        try:
            curl.setopt(pycurl.URL, target.href)
            curl.setopt(pycurl.POSTFIELDS, body)
            curl.setopt(pycurl.HTTPHEADER, [f"{name}: {value}" for name, value in headers.items()] + ["Expect:"])
            curl.setopt(pycurl.TIMEOUT, SECONDS)
            curl.setopt(pycurl.OPENSOCKETFUNCTION, open_socket)
            curl.setopt(pycurl.WRITEFUNCTION, lambda part: said.write(part) if said.tell() < READ_BYTES else 0)
            curl.unsetopt(pycurl.ACCEPT_ENCODING)  # so that nothing is unpacked, whatever comes
            status = _answered(curl)
        except pycurl.error as exc:
            why = closed_words(target.href, self._options.rule) if refused else _why(exc)
            return DeliveryResult(delivered=False, words=f"Not delivered: {why}."[:KEPT_BYTES], blocked=bool(refused))
        finally:
            curl.close()
        body_words = said.getvalue()[: 2 * KEPT_BYTES].decode("utf-8", "replace").replace("\x00", "")
        # Who may only read sees this, but not the address. It is cut last, so that no part of the address is left.
        body_words = without_address(body_words, target.href)[:KEPT_BYTES].strip()
        words = " ".join(part for part in (str(status), _meaning(status), body_words) if part)
        return DeliveryResult(delivered=200 <= status < 300, words=words, gone=status == GONE)


def _answered(curl: pycurl.Curl) -> int:
    """Send it. The status counts also if we did not want to hear all that was said."""
    try:
        curl.perform()
    except pycurl.error as exc:
        if exc.args[0] != pycurl.E_WRITE_ERROR:
            raise
    return int(curl.getinfo(pycurl.RESPONSE_CODE))


def _why(exc: pycurl.error) -> str:
    if exc.args[0] == pycurl.E_OPERATION_TIMEDOUT:
        return f"no answer within {SECONDS} s"
    return str(exc.args[-1]).rstrip(".")


def _meaning(status: int) -> str:
    """The meaning of answers that do not speak for themselves."""
    if status == GONE:
        return "It wants nothing more."
    return "It redirects, which is not followed." if 300 <= status < 400 else ""
