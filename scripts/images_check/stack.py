"""The containers of docker-compose.yml: started as anybody would, without an .env, and asked how they are."""

import json
import time
from pathlib import Path

from scripts.images_check.daemon import Daemon
from scripts.images_check.images import NAME
from scripts.images_check.running import Failed

PROJECT = "crawler-check"
HEALTHY_SECONDS = 300.0
# The site is a container beside the others, so private addresses must be allowed. Ports are any that are free.
ENVIRONMENT = {
    "IMAGE_NAME": NAME,
    "API_PORT": "0",
    "FLOWER_PORT": "0",
    "CRAWLER_EGRESS_ALLOW": "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16",
    "CRAWLER_USER_AGENT": "images-check (+https://check.test/)",
}


class Stack:
    def __init__(self, daemon: Daemon, source: Path, log: Path) -> None:
        self._daemon = daemon
        self._file = daemon.path(source / "docker-compose.yml")
        self._log = log

    def compose(self, *words: str, seconds: float = 600) -> str:
        settings = [f"{name}={value}" for name, value in ENVIRONMENT.items()]
        command = ["env", *settings, "docker", "compose", "--project-name", PROJECT, "--file", self._file]
        return self._daemon.run(*command, *words, seconds=seconds)

    def docker(self, *words: str, seconds: float = 120) -> str:
        return self._daemon.run("docker", *words, seconds=seconds)

    def up(self) -> float:
        """Seconds until every container with a check is healthy."""
        began = time.monotonic()
        self.compose("up", "--detach", seconds=900)
        while waiting := [name for name, state in self.states().items() if state not in {"healthy", "running", "done"}]:
            if time.monotonic() - began > HEALTHY_SECONDS:
                raise Failed(f"Not healthy after {HEALTHY_SECONDS:g} s: {', '.join(waiting)}\n{self.logs(*waiting)}")
            time.sleep(1)
        return time.monotonic() - began

    def states(self) -> dict[str, str]:
        """What became of each service: healthy, running (it has no check), done, or what is wrong."""
        found = {}
        for line in self.compose("ps", "--all", "--format", "json").splitlines():
            one = json.loads(line)
            ended = "done" if one["ExitCode"] == 0 else "failed"
            found[one["Service"]] = one["Health"] or (ended if one["State"] == "exited" else one["State"])
        return found

    def containers(self) -> dict[str, str]:
        lines = self.compose("ps", "--format", "{{.Service}} {{.Name}}").splitlines()
        return dict(line.split(" ", 1) for line in lines)

    def exec(self, service: str, *words: str, seconds: float = 120) -> str:
        return self.compose("exec", "-T", service, *words, seconds=seconds)

    def logs(self, *services: str) -> str:
        return self.compose("logs", "--tail", "20", *services)

    def down(self) -> None:
        self.compose("down", "--volumes", "--timeout", "60", seconds=300)
