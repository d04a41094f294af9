"""A mail server for trying things out: prints every mail it gets. `python inbox.py [PORT]`, until Ctrl-C.

Needs `pip install aiosmtpd`; `make setup` brings it.
"""

import sys
import time
from email import message_from_bytes, policy
from typing import Any

from aiosmtpd.controller import Controller


class Inbox:
    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802 - aiosmtpd's name
        mail = message_from_bytes(envelope.content, policy=policy.default)
        text = mail.get_body(("plain",))
        words = text.get_content() if text else ""
        sys.stdout.write(f"\nTo: {mail['to']}\nSubject: {mail['subject']}\n\n{words}\n")
        sys.stdout.flush()
        return "250 OK"


port = int(sys.argv[1]) if len(sys.argv) > 1 else 2525
server = Controller(Inbox(), hostname="127.0.0.1", port=port)
server.start()
sys.stdout.write(f"Mails to 127.0.0.1:{port} are shown here.\n")
sys.stdout.flush()
try:
    while True:
        time.sleep(3600)
except KeyboardInterrupt:
    server.stop()
