"""The files around the code agree with it: Procfile, docker-compose.yml, Makefile."""

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from crawler.adapters.operating.queues import QUEUES

ROOT = Path(__file__).parents[3]
SECRETS = ("POSTGRES_PASSWORD", "REDIS_PASSWORD", "FLOWER_BASIC_AUTH", "CRAWLER_SECRET_KEY")


def procfile() -> dict[str, str]:
    lines = (ROOT / "Procfile").read_text().splitlines()
    return {name: command.strip() for name, _, command in (line.partition(":") for line in lines)}


def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    return found


def command(service: dict[str, Any]) -> str:
    words = service["command"]
    return words if isinstance(words, str) else " ".join(words)


def queues(text: str) -> list[str]:
    found = re.search(r" -Q (\S+)", text)
    return found[1].split(",") if found else []


@pytest.mark.parametrize("source", ["Procfile", "docker-compose.yml"])
def test_every_queue_is_served_by_exactly_one_kind_of_worker(source: str) -> None:
    commands = (
        procfile().values() if source == "Procfile" else [command(s) for s in services().values() if "command" in s]
    )
    served = [queue for text in commands for queue in queues(text)]
    assert sorted(served) == sorted(QUEUES)


@pytest.mark.parametrize("name", procfile())
def test_docker_runs_the_same_processes_as_the_procfile(name: str) -> None:
    ours, theirs = procfile()[name], command(services()[name])
    assert queues(ours) == queues(theirs)
    for option in (
        "--without-gossip",
        "--without-mingle",
        "--pool solo",
        "--pidfile=",
        "--max_tasks=5000",
        "-c 1",
        "-c 2",
    ):
        assert (option in ours) == (option in theirs), option


def test_no_secret_has_a_default_and_only_their_maker_is_told_them() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    for name in SECRETS:
        assert re.findall(rf"\$\{{?{name}([^}}]*)", text) == [":-"], name
        assert [one for one, service in services().items() if name in service.get("environment", {})] == ["secrets"]


def test_only_loopback_is_published_unless_the_operator_says_so() -> None:
    published = [port for service in services().values() for port in service.get("ports", [])]
    assert len(published) == 2
    assert all(port.startswith("${PUBLISH_ADDRESS:-127.0.0.1}:") for port in published)


def test_make_help_names_every_target_of_the_readme() -> None:
    shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for target in ("setup", "run", "up", "test", "check", "bench", "chaos", "lock", "help"):
        assert f"make {target} " in shown
