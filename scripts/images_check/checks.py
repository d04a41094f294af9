"""What is asked of the running containers."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

from scripts.images_check import site
from scripts.images_check.images import NAME
from scripts.images_check.running import Failed
from scripts.images_check.stack import PROJECT, Stack

Result = tuple[str, bool, str]
WORKERS = ("control", "compare", "notify", "fetch", "render", "ingest")
OURS = ("api", *WORKERS, "beat", "flower")
SERVERS = ("postgres", "valkey")
SITE = "site.test"
CRAWL_SECONDS = 180
CHECK_SECONDS = 0.1
"""CPU time that a health check may take."""
PULSE_SECONDS = 30
ONE = "crawler-check-one"
# To all processes of a worker; the brackets keep the shell itself from being one of them.
_SIGNAL = "for p in /proc/[0-9]*; do grep -q 'worker[s].app' $p/cmdline && kill -{} ${{p#/proc/}}; done; true"
# Run in the container of the service; prints each page's path and how it was fetched.
_CRAWL = f"""
import json, os
from urllib.parse import urlsplit
from crawler.client import Client
with Client("http://127.0.0.1:8800", key=os.environ["KEY"]) as client:
    project = client.projects.create("check", "http://{SITE}/")
    client.wait(client.crawls.start(project.id, max_pages=10), timeout={CRAWL_SECONDS})
    pages = client.pages.of(project.id, status="success")
    health = {{check.name: check.ok for check in client.health().checks}}
    print(json.dumps([{{urlsplit(page.url).path: page.crawl_method for page in pages}}, health]))
"""


def check_containers(stack: Stack) -> Iterator[Result]:
    """Rights, users, owners of mounts, and the cost of health checks."""
    for service, container in stack.containers().items():
        told = json.loads(stack.docker("inspect", container))[0]
        host = told["HostConfig"]
        yield f"{service} has a read-only root and no rights", host["ReadonlyRootfs"] and host["CapDrop"] == ["ALL"], ""
        processes = [line.split() for line in stack.docker("top", container, "-eo", "pid,uid,comm").splitlines()[1:]]
        roots = [name for _, user, name in processes if user == "0" and name != "docker-init"]
        yield f"{service} runs without root", not roots, ", ".join(roots)
    for service in OURS:
        script = "touch /tmp/x /data/x && rm /tmp/x /data/x && ! touch /app/x 2> /dev/null"
        yield f"{service} can write where it should", *_passes(stack, service, "sh", "-c", script)
    for service in WORKERS:
        seconds = _cpu(stack, service, "healthy pulse")
        yield f"the health check of {service} is cheap", seconds <= CHECK_SECONDS, f"{seconds:.3f} s of CPU"
    seconds = _cpu(stack, "api", "healthy http 8800 /api/v1/health/live")
    yield "the health check of api is cheap", seconds <= CHECK_SECONDS, f"{seconds:.3f} s of CPU"


def _passes(stack: Stack, service: str, *words: str) -> tuple[bool, str]:
    try:
        stack.exec(service, *words)
    except Failed as exc:
        return False, str(exc)
    return True, ""


def _cpu(stack: Stack, service: str, command: str) -> float:
    """User and system time of a command, without what it takes to get into the container."""
    timed = f"TIMEFORMAT='%U %S'; time {command}"
    user, system = stack.exec(service, "bash", "-c", f"{{ {timed}; }} 2>&1").split()
    return float(user) + float(system)


def check_secrets(stack: Stack) -> Iterator[Result]:
    """Made once, told where, and readable by those alone who need them."""
    told = stack.compose("logs", "--no-log-prefix", "secrets")
    yield "the first start says where secrets are", "crawler_secret_key" in told and "--scope admin" in told, ""
    before = stack.exec("api", "cat", "/run/crawler/crawler_secret_key")
    stack.compose("run", "--rm", "--no-deps", "-T", "secrets")
    yield "a second start keeps them", stack.exec("api", "cat", "/run/crawler/crawler_secret_key") == before, ""
    for service in SERVERS:
        seen = stack.exec(service, "sh", "-c", "ls /run/crawler 2> /dev/null || true").strip()
        yield f"{service} sees no secret of others", not seen, seen


def check_pulse(stack: Stack) -> Iterator[Result]:
    """A worker that stands still is seen."""
    stack.exec("ingest", "sh", "-c", _SIGNAL.format("STOP"))
    time.sleep(PULSE_SECONDS + 5)
    beats = _passes(stack, "ingest", "healthy", "pulse")[0]
    stack.exec("ingest", "sh", "-c", _SIGNAL.format("CONT"))
    yield "a worker that stands still has no pulse", not beats, ""


def check_crawl(stack: Stack) -> Iterator[Result]:
    """A light page and a rendered one, by the service; and that its health knows of the browser elsewhere."""
    key = json.loads(stack.exec("api", "crawler", "key", "create", "admin", "--scope", "admin", "--json"))["key"]
    stack.docker(
        "run", "--detach", "--name", SITE, "--network", f"{PROJECT}_outside", "--network-alias", SITE,
        "--user", "0", "--entrypoint", "python", f"{NAME}:light", "-c", Path(site.__file__).read_text(),
    )  # fmt: skip
    try:
        words = ("exec", "-T", "--env", f"KEY={key}", "api", "python", "-c", _CRAWL)
        methods, health = json.loads(stack.compose(*words, seconds=CRAWL_SECONDS + 60))
    finally:
        stack.docker("rm", "--force", "--volumes", SITE)
    wanted = {"/": "lightweight", "/app": "crawl4ai"}
    yield "a light and a rendered page are crawled", methods == wanted, str(methods)
    yield "health knows of the browser of another container", health["browser"], ""


def check_doctor(stack: Stack) -> Iterator[Result]:
    """The doctor starts the browser and its driver in the render container."""
    checks = json.loads(stack.exec("render", "sh", "-c", "crawler doctor --json || true"))["checks"]
    (browser,) = [check for check in checks if check["name"] == "browser"]
    yield "the browser and its driver start in the render image", browser["ok"], browser["message"]


def check_one_container(stack: Stack) -> Iterator[Result]:
    """Everything in one container, as the docs start it, and stopped in time."""
    try:
        stack.docker(
            "run", "--detach", "--name", ONE, "--init", "--stop-timeout", "60", "--network", "none", "--shm-size", "1g",
            "--read-only", "--tmpfs", "/tmp:mode=1777", "--volume", "/data", f"{NAME}:light",
        )  # fmt: skip
        until = time.monotonic() + 180
        while (state := _state(stack)) != "healthy" and time.monotonic() < until:
            time.sleep(1)
        yield "one container alone gets healthy", state == "healthy", state
        key = stack.docker("exec", ONE, "cat", "/data/api-key").strip()
        yield "its key is where the docs say", key.startswith("crk_"), ""
        began = time.monotonic()
        stack.docker("stop", ONE)
        code = stack.docker("inspect", "--format", "{{.State.ExitCode}}", ONE).strip()
        yield "it stops in time", code == "0", f"{time.monotonic() - began:.0f} s, exit {code}"
    finally:
        stack.docker("rm", "--force", "--volumes", ONE)


def _state(stack: Stack) -> str:
    return stack.docker("inspect", "--format", "{{.State.Health.Status}}", ONE).strip()
