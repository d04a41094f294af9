"""Watch prices and be told by a webhook: `python price_watcher.py PORT https://shop.example/kettle https://…`.

It makes a monitor of these pages at the Firecrawl door, receives its webhooks at 127.0.0.1:PORT, checks their
signatures, and prints each line with a price that changed. Ctrl-C deletes the monitor and ends.

Needs `pip install firecrawl-py`. The service is CRAWLER_API_URL, the key CRAWLER_API_KEY; the service has
CRAWLER_WEBHOOK_SECRET and, as the receiver is on this machine, CRAWLER_EGRESS_ALLOW=127.0.0.1:PORT.
"""

import hashlib
import hmac
import json
import os
import re
import signal
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer

from firecrawl import Firecrawl

PRICE = re.compile(r"\d+(?:[.,]\d+)?\s?(?:€|EUR|\$|USD|£)|(?:€|\$|£)\s?\d")
SECRET = os.environ["CRAWLER_WEBHOOK_SECRET"].encode()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signed = "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        is_ours = hmac.compare_digest(signed, self.headers.get("X-Firecrawl-Signature", ""))
        self.send_response(204 if is_ours else 401)
        self.end_headers()
        if is_ours:
            tell(json.loads(body))

    def log_message(self, *_: object) -> None: ...


def tell(event: dict) -> None:
    if event["type"] == "monitor.check.completed":
        say(f"checked: {event['data'][0]['summary']}")
    for page in event["data"] if event["type"] == "monitor.page" else ():
        for line in ((page["diff"] or {}).get("text") or "").splitlines():
            if line[:1] in "+-" and line[:3] not in ("+++", "---") and PRICE.search(line):
                say(f"{page['url']}: {line}")


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def stop(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    port, urls = int(sys.argv[1]), sys.argv[2:]
    app = Firecrawl(api_key=os.environ["CRAWLER_API_KEY"], api_url=os.environ["CRAWLER_API_URL"])
    signal.signal(signal.SIGTERM, stop)
    receiver = HTTPServer(("127.0.0.1", port), Receiver)
    monitor = app.create_monitor(
        name=f"Prices on {port}",
        schedule={"text": "every 30 minutes"},
        targets=[{"type": "scrape", "urls": urls}],
        webhook={"url": f"http://127.0.0.1:{port}/"},
    )
    app.run_monitor(monitor.id)
    say(f"monitor {monitor.id}")
    try:
        receiver.serve_forever()
    except KeyboardInterrupt:
        app.delete_monitor(monitor.id)
