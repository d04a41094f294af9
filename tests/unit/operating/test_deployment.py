"""Every way to run the product runs the same processes."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from crawler.adapters.operating.queues import ROUTES
from crawler.config import load_settings
from crawler.entrypoints.processes import all_processes
from crawler.errors import Invalid

ROOT = Path(__file__).parents[3]
NAMES = ["api", "control", "compare", "notify", "fetch", "render", "ingest", "beat", "flower"]
SECRETS = {
    "POSTGRES_PASSWORD": "a",
    "REDIS_PASSWORD": "b",
    "FLOWER_BASIC_AUTH": "c:d",
    "CRAWLER_SECRET_KEY": "e" * 43 + "=",
}


def plain(words: list[str]) -> list[str]:
    """A command without what depends on the place: interpreter, node name, addresses, the number of cores."""
    words = words[2:] if words[1:2] == ["-m"] else words
    kept: list[str] = []
    for word, before in zip(words, ["", *words], strict=False):
        if before in {"-n", "--host", "--port"}:
            kept.append("…")
        else:
            kept.append(re.sub(r"^(--(?:address|port)=).*", r"\1…", word))
    if "fetch" in kept and "-c" in kept:
        at = kept.index("-c")
        kept = [*kept[:at], *kept[at + 2 :]]
    return kept


@pytest.fixture(scope="module")
def expected() -> dict[str, list[str]]:
    settings = load_settings(redis_url="redis://h/0")
    return {spec.name: plain(list(spec.argv)) for spec in all_processes(settings, "127.0.0.1", 8800)}


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


def as_words(command: str | list[str]) -> list[str]:
    return shlex.split(command) if isinstance(command, str) else command


def test_the_procfile_lists_the_processes_of_crawler_up(expected: dict[str, list[str]]) -> None:
    lines = (ROOT / "Procfile").read_text().splitlines()
    listed = {name: plain(shlex.split(command)) for name, command in (line.split(": ", 1) for line in lines)}
    assert list(listed) == NAMES
    assert listed == expected


def test_compose_runs_the_processes_of_crawler_up(expected: dict[str, list[str]], compose: dict[str, Any]) -> None:
    listed = {name: plain(as_words(compose["services"][name]["command"])) for name in NAMES}
    assert listed == expected


def test_every_container_of_ours_is_restarted_checked_and_without_rights(compose: dict[str, Any]) -> None:
    for name in NAMES:
        service = compose["services"][name]
        assert service["restart"] == "unless-stopped", name
        assert service["read_only"], name
        assert service["cap_drop"] == ["ALL"], name
        assert "no-new-privileges:true" in service["security_opt"], name
        assert service["healthcheck"].get("disable", False) == (name == "beat"), "the image's own is for `crawler up`"
    for name in ("postgres", "valkey"):
        service = compose["services"][name]
        assert "healthcheck" in service
        assert service["restart"] == "unless-stopped"
        assert (service["user"], service["read_only"], service["cap_drop"]) == (name, True, ["ALL"])
    assert re.findall(r"^USER (\S+)$", (ROOT / "Dockerfile").read_text(), re.MULTILINE) == ["10001:10001"]


def test_each_image_is_built_once_and_never_pulled(compose: dict[str, Any]) -> None:
    """Compose makes an image for every service that says how; and no registry has ours."""
    ours = {name: compose["services"][name] for name in [*NAMES, "migrate", "secrets"]}
    assert {service["pull_policy"] for service in ours.values()} == {"never"}
    builders = {name: service["image"].partition("}:")[2] for name, service in ours.items() if "build" in service}
    assert builders == {"secrets": "light", "render": "render"}
    assert all(ours[name]["build"]["target"] == target for name, target in builders.items())


def test_what_containers_say_does_not_fill_the_disk(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert {"max-size", "max-file"} <= set(service["logging"]["options"]), name


def test_directories_in_memory_belong_to_the_images_user(compose: dict[str, Any]) -> None:
    (uid,) = re.findall(r"--uid (\d+) --gid", (ROOT / "Dockerfile").read_text())
    for name in [*NAMES, "migrate", "secrets"]:
        service = compose["services"][name]
        mounts = dict(mount.split(":", 1) for mount in service["tmpfs"])
        assert mounts["/tmp"] == "mode=1777", name
        kept = any(volume.endswith(":/data") for volume in service["volumes"])
        assert kept or mounts["/data"] == f"uid={uid},gid={uid},mode=0700", name


def test_a_health_check_starts_no_python(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        words = " ".join(service.get("healthcheck", {}).get("test", []))
        assert not re.search(r"python|celery", words), name
        if "worker" in as_words(service.get("command", [])):
            assert words == "CMD healthy pulse", name


def test_no_secret_is_written_down_and_nothing_is_published_to_the_world(compose: dict[str, Any]) -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    example = (ROOT / ".env.example").read_text()
    for name in SECRETS:
        assert f"${{{name}:-}}" in text
        assert f"\n#{name}=\n" in example
    for service in compose["services"].values():
        for port in service.get("ports", ()):
            assert port.startswith("${PUBLISH_ADDRESS:-127.0.0.1}:")


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("docker-compose") is None, reason="docker-compose is not installed here")
def test_docker_compose_has_nothing_to_object_to(tmp_path: Path) -> None:
    for environment in (SECRETS, {}):
        done = compose_config(tmp_path, environment)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""


def compose_config(directory: Path, environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    command = ["docker-compose", "-f", str(ROOT / "docker-compose.yml"), "config"]
    env = {"PATH": os.environ["PATH"], **environment}
    return subprocess.run(command, cwd=directory, env=env, capture_output=True, text=True, check=False)


# -- Flower -----------------------------------------------------------------------------------


def flower(**options: str) -> Any:
    settings = load_settings(redis_url="redis://h/0", **options)
    return all_processes(settings, "127.0.0.1", 8800)[-1]


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost"])
def test_flower_may_be_open_on_this_machine_only(address: str) -> None:
    assert f"--address={address}" in flower(flower_host=address).argv


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "10.0.0.5", "example.org"])
def test_flower_elsewhere_asks_for_a_password_or_is_not_started(address: str) -> None:
    with pytest.raises(Invalid, match="CRAWLER_FLOWER_BASIC_AUTH"):
        flower(flower_host=address)
    process = flower(flower_host=address, flower_basic_auth="me:hunter2")
    assert process.env["FLOWER_BASIC_AUTH"] == "me:hunter2"
    assert "hunter2" not in " ".join(process.argv)


# -- docs/reference/tasks.md ----------------------------------------------------------------------------


def test_the_contract_lists_every_task_with_its_queue() -> None:
    """Read, not imported: importing the tasks starts servers."""
    made = set(re.findall(r'@app\.task\(\s*name="(crawler\.\w+)"', (ROOT / "workers" / "tasks.py").read_text()))
    rows = re.findall(
        r"^\| `(crawler\.\w+)` \| ([^|]+) \|", (ROOT / "docs" / "reference" / "tasks.md").read_text(), re.MULTILINE
    )
    listed = {task: queues.replace("`", "").split(", ") for task, queues in rows}
    assert set(listed) == made
    for task, queue in ROUTES.items():
        assert listed.get(task, [queue]) == [queue]


def test_no_container_shows_a_secret_in_its_command_line(compose: dict[str, Any]) -> None:
    """What a shell puts into an argument stands in the list of processes; what comes by stdin does not."""
    secrets = ("PASSWORD", "REDISCLI_AUTH", "SECRET", "_KEY", "BASIC_AUTH")
    for name, service in compose["services"].items():
        words = " ".join(as_words(service.get("command", [])))
        arguments = words.partition("<<")[0]
        assert [secret for secret in secrets if secret in arguments] == [], name
