"""People who watch a crawl: a process of its own that opens so many WebSockets and reads them to the end.

`python -m benchmarks.live_readers URL COUNT` with the key in the environment; says `ready` when all are connected, and
at the end one JSON object.
"""

import asyncio
import json
import os
import sys
import time
from dataclasses import asdict, dataclass

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

KEY_NAME = "BENCH_KEY"
OPENING = 20
"""At once."""


@dataclass
class Reading:
    readers: int
    events: int = 0
    complete: int = 0
    """Readers who got every event, in order, to the last."""
    last_at: float = 0.0
    """When the last of them had it (unix time)."""


async def main(url: str, count: int, key: str) -> Reading:
    reading, connected, doors = Reading(count), asyncio.Semaphore(0), asyncio.Semaphore(OPENING)
    tasks = [asyncio.create_task(_read(url, key, reading, connected, doors)) for _ in range(count)]
    for _ in range(count):
        await connected.acquire()
    print("ready", flush=True)
    await asyncio.gather(*tasks)
    return reading


async def _read(url: str, key: str, reading: Reading, connected: asyncio.Semaphore, doors: asyncio.Semaphore) -> None:
    async with doors:
        socket = await connect(url, additional_headers={"Authorization": f"Bearer {key}"}, open_timeout=60)
    connected.release()
    expected = None
    async with socket:
        try:
            async for message in socket:
                event = json.loads(message)
                reading.events += 1
                if expected is not None and event["seq"] != expected:
                    return
                expected = event["seq"] + 1
                if event["type"] == "completed":
                    reading.complete += 1
                    reading.last_at = time.time()
                    return
        except ConnectionClosed:
            return


if __name__ == "__main__":
    done = asyncio.run(main(sys.argv[1], int(sys.argv[2]), os.environ[KEY_NAME]))
    print(json.dumps(asdict(done)), flush=True)
