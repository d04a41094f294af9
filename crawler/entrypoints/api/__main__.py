"""Runs the HTTP service: `python -m crawler.entrypoints.api`, at CRAWLER_API_HOST and CRAWLER_API_PORT or as told."""

import argparse
import asyncio
from contextlib import suppress
from types import FrameType

import uvicorn

from crawler.bootstrap.fitness import refuse_unfit_machine
from crawler.config import Settings, load_settings
from crawler.entrypoints.api.live.protocol import LiveProtocol
from crawler.entrypoints.http.slow_clients import connections_allowed, impatient_protocol


class Server(uvicorn.Server):
    """At rest it wakes once a second, for the date in its answers, and not ten times. A signal wakes it at once."""

    async def main_loop(self) -> None:
        self._loop, self._woken = asyncio.get_running_loop(), asyncio.Event()
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._woken.wait()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self.started:
            self._loop.call_soon_threadsafe(self._woken.set)


def config(settings: Settings, host: str, port: int) -> uvicorn.Config:
    trusted = settings.trusted_proxies
    return uvicorn.Config(
        "crawler.entrypoints.api.app:create_app",
        factory=True,
        host=host,
        port=port,
        http=impatient_protocol(most_connections=connections_allowed()),
        ws=LiveProtocol,
        access_log=False,
        # Else anybody could name another address than their own in X-Forwarded-For.
        proxy_headers=bool(trusted),
        forwarded_allow_ips=list(trusted),
    )


def main() -> None:
    settings = load_settings()
    given = argparse.ArgumentParser(prog="python -m crawler.entrypoints.api", description="Runs the HTTP service.")
    given.add_argument("--host", default=settings.api_host, help="address to bind; default CRAWLER_API_HOST")
    given.add_argument("--port", type=int, default=settings.api_port, help="port to bind; default CRAWLER_API_PORT")
    where = given.parse_args()
    refuse_unfit_machine(settings)
    Server(config(settings, where.host, where.port)).run()


if __name__ == "__main__":
    main()
