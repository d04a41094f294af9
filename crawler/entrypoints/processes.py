"""The processes of a running system (API, workers, beat, Flower), for the supervisor. The Procfile lists the same."""

import os
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from ipaddress import ip_address

from pydantic import SecretStr

from crawler.config import PREFIX, Settings
from crawler.errors import Conflict, Invalid
from crawler.lazy_module import load
from crawler.supervisor import ProcessSpec

_CELERY = (sys.executable, "-m", "celery", "-A", "workers.app")
_QUIET = ("--without-gossip", "--without-mingle")
KEY_FILE = "api-key"
"""File in the data directory with the API key that `crawler up` made, for commands of the same user."""
NOTIFY_POOL = ("-P", "threads", "-c", "64")
"""Notifications are sent in threads of one process, because senders mostly wait, and a receiver that hangs must not
block the next: `handlers/notices/sender_places.py` shares them. Threads have no time limit in Celery; each sender has
its own timeout.
"""


WARM = {"celery": "workers.forked"}
"""Modules that do the work of programs in a process that is forked from a warm one."""


def child_environment(settings: Settings) -> Mapping[str, str]:
    """The environment of child processes: all settings of this process, including the embedded servers' addresses."""
    given = {name: getattr(settings, name) for name in settings.model_fields_set}
    ours = {PREFIX + name.upper(): _as_text(value) for name, value in given.items() if value is not None}
    return {**os.environ, **ours}


def _as_text(value: object) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def worker(name: str, queues: str, *options: str, env: Mapping[str, str]) -> ProcessSpec:
    argv = (*_CELERY, "worker", "-n", f"{name}-{os.getpid()}@%h", "-Q", queues, "-l", "info", *options, *_QUIET)
    return ProcessSpec(name, argv, env)


def crawl_processes(settings: Settings, fetchers: int, *, render: bool = False) -> list[ProcessSpec]:
    """The processes for a single crawl: coordinator, fetchers and a renderer, without schedules."""
    argv = (sys.executable, "-m", "workers.one_crawl", str(fetchers), *(("render",) if render else ()))
    return [ProcessSpec("workers", argv, child_environment(settings))]


def all_processes(settings: Settings, host: str, port: int) -> list[ProcessSpec]:
    env = child_environment(settings)
    fetchers = settings.fetch_concurrency or os.cpu_count() or 1
    api = ("crawler.entrypoints.api", "--host", host, "--port", str(port))
    return [
        ProcessSpec("api", (sys.executable, "-m", *api), env),
        worker("control", "coordinator", "-c", "2", env=env),
        worker("compare", "compare", "-c", "3", env=env),
        worker("notify", "notify", *NOTIFY_POOL, env=env),
        worker("fetch", "fetch", "-c", str(fetchers), env=env),
        worker("render", "render", "-c", "1", env=env),
        worker("ingest", "ingest", "-c", "1", env=env),
        ProcessSpec("beat", (*_CELERY, "beat", "-S", "workers.beat.BeatScheduler", "--pidfile=", "-l", "info"), env),
        flower(settings, env),
    ]


_FEW_DOCUMENTS = ("--at-most", "ingest=1", "--at-most", "embed=1")


def for_one_machine(specs: Sequence[ProcessSpec]) -> list[ProcessSpec]:
    """The processes in the shape of one machine: one worker compares and makes documents, and pools are small at rest.

    Each process costs memory, also at rest. Documents get one process of that worker at most, and their vectors
    another, so comparisons never wait for them.
    """
    by_name = {spec.name: spec for spec in specs}
    env = by_name.pop("ingest").env or {}
    by_name["compare"] = worker("compare", "compare,ingest", "-c", "4", *_FEW_DOCUMENTS, env=env)
    return [replace(spec, argv=_as_needed(spec.argv)) for spec in by_name.values()]


def _as_needed(argv: Sequence[str]) -> tuple[str, ...]:
    """A worker with processes as it needs them: one at rest."""
    if "-c" not in argv or "-P" in argv:
        return tuple(argv)
    at = argv.index("-c")
    return (*argv[:at], "--autoscale", f"{argv[at + 1]},1", *argv[at + 2 :])


def warmed(specs: Sequence[ProcessSpec], *, everything: bool) -> list[ProcessSpec]:
    """The processes forked from this one, which first imports what they share, with their settings.

    `everything`: those of a whole system.
    """
    os.environ.update(specs[0].env or {})
    load("workers.warm").warm(everything=everything)
    return [replace(spec, warm=WARM.get(spec.argv[2], spec.argv[2])) for spec in specs]


def flower(settings: Settings, env: Mapping[str, str]) -> ProcessSpec:
    """The Flower process. Its page controls every task, so it needs a password unless it is on loopback."""
    secret = settings.flower_basic_auth
    if secret is None and not is_loopback(settings.flower_host):
        raise Invalid(
            f"Flower on {settings.flower_host} would let anybody steer the workers; "
            "set CRAWLER_FLOWER_BASIC_AUTH=user:password, or CRAWLER_FLOWER_HOST=127.0.0.1."
        )
    options = (f"--address={settings.flower_host}", f"--port={settings.flower_port}", "--max_tasks=5000")
    # As an environment variable, because command lines are readable by every user.
    given = {"FLOWER_BASIC_AUTH": secret.get_secret_value()} if secret else {}
    argv, address = (
        (sys.executable, "-m", "crawler.entrypoints.flower", *options),
        (settings.flower_host, settings.flower_port),
    )
    return ProcessSpec("flower", argv, {**env, **given}, address=address)


def is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def check_port_free(host: str, port: int, setting: str) -> None:
    if not 0 <= port <= 65535:
        raise Invalid(f"{port} is not a port; ports go from 0 to 65535.")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with closing(socket.socket(family, socket.SOCK_STREAM)) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except socket.gaierror as exc:
            raise Invalid(f"{host} is not an address of this machine; correct CRAWLER_API_HOST.") from exc
        except OSError as exc:
            raise Conflict(
                f"{host}:{port} cannot be used ({exc.strerror}); stop what listens there or set {setting}."
            ) from exc
