"""Watch a project until its crawl ends: `python watch.py ws://127.0.0.1:8800 PROJECT_ID [AFTER]`.

The key is in CRAWLER_API_KEY, because everybody can read command lines. Needs `pip install websockets`.
Whatever happens to the connection or the service, each event is printed once.
"""

import json
import os
import sys
import time

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

service, project = sys.argv[1:3]
after = int(sys.argv[3]) if len(sys.argv) > 3 else None
key = os.environ["CRAWLER_API_KEY"]

while True:
    query = "" if after is None else f"?after={after}"
    url = f"{service}/api/v1/projects/{project}/ws{query}"
    try:
        with connect(url, additional_headers={"Authorization": f"Bearer {key}"}) as socket:
            if after is None:
                after = int(socket.response.headers["crawler-seq"])
            for message in socket:
                event = json.loads(message)
                after = event["seq"]
                sys.stdout.write(json.dumps(event) + "\n")
                sys.stdout.flush()
                if event["type"] == "completed":
                    sys.exit(0)
    except InvalidStatus as refused:
        if refused.response.status_code not in (429, 502, 503):
            sys.exit(refused.response.body.decode())
    except (ConnectionClosed, OSError):
        pass  # the service is restarted, or we were too slow
    time.sleep(1)
