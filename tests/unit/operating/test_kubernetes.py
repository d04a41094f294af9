"""The Kubernetes manifests: valid for a cluster, and in step with the Procfile, docker-compose.yml and our metrics."""

import re
import shlex
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from crawler.lazy_module import LazyModule

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "deploy" / "kubernetes"
FILES = sorted(path for path in FOLDER.glob("*/*.yaml") if path.name != "kustomization.yaml")
kubernetes_validate = LazyModule(
    "kubernetes_validate"
)  # its import takes seconds, which those who collect tests would all wait for


@cache
def documents(path: Path) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def named(folder: str, kind: str) -> dict[str, dict[str, Any]]:
    found = [one for path in FILES if path.parent.name == folder for one in documents(path) if one["kind"] == kind]
    return {one["metadata"]["name"]: one for one in found}


def kustomization(folder: str) -> dict[str, Any]:
    (found,) = documents(FOLDER / folder / "kustomization.yaml")
    return found


def container(workload: dict[str, Any]) -> dict[str, Any]:
    (found,) = workload["spec"]["template"]["spec"]["containers"]
    return dict(found)


def processes() -> dict[str, dict[str, Any]]:
    deployments = named("processes", "Deployment")
    return {name: one for name, one in deployments.items() if not name.startswith("every-")}


@cache
def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    return found


def words(command: str | list[str]) -> list[str]:
    """A command without its addresses and the number of fetchers, which each place chooses."""
    kept = shlex.split(command) if isinstance(command, str) else list(command)
    if "fetch" in kept and "-c" in kept:
        at = kept.index("-c")
        del kept[at : at + 2]
    return [re.sub(r"^(--address=|\$\{.*|\d+\.\d+\.\d+\.\d+$|\d{4}$|--port=).*", "…", word) for word in kept]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_cluster_takes_each_document(path: Path) -> None:
    assert documents(path)
    for document in deepcopy(documents(path)):
        if document["metadata"]["name"].startswith("every-"):  # a patch: it has no selector and no images
            document["spec"]["selector"] = {}
            container(document).setdefault("image", "x")
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)


def test_a_wrong_document_is_found() -> None:
    wrong = deepcopy(processes()["api"])
    container(wrong)["readinessProbe"]["everySeconds"] = 3
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, kubernetes_validate.latest_version(), strict=True)


@pytest.mark.parametrize("folder", ["processes", "with-servers"])
def test_every_file_is_used(folder: str) -> None:
    asked = kustomization(folder)
    used = {name for name in asked["resources"] if name.endswith(".yaml")}
    used |= {patch["path"] for patch in asked.get("patches", ())}
    assert used == {path.name for path in FILES if path.parent.name == folder}


def test_the_processes_are_those_of_the_procfile_and_of_compose() -> None:
    lines = dict(line.split(": ", 1) for line in (ROOT / "Procfile").read_text().splitlines())
    commands = {name: words(container(one)["command"]) for name, one in processes().items()}
    assert commands == {name: words(command) for name, command in lines.items()}
    assert commands == {name: words(compose()[name]["command"]) for name in lines}
    migrate = container(named("processes", "Job")["migrate"])["command"]
    assert migrate == compose()["migrate"]["command"]


def test_only_the_browser_gets_the_large_image_and_room_for_its_sandbox() -> None:
    for name, one in processes().items():
        image = "crawler-render" if name == "render" else "crawler-light"
        assert container(one)["image"] == image
        profile = one["spec"]["template"]["spec"]["securityContext"]["seccompProfile"]["type"]
        assert profile == ("Unconfined" if name == "render" else "RuntimeDefault")
    known = {f"{one['newName']}:{one['newTag']}" for one in kustomization("processes")["images"]}
    assert known == {"crawler:light", "crawler:render"}


def test_every_process_is_checked_as_in_compose() -> None:
    (pulse,) = [one for path in FILES if path.name == "every-worker.yaml" for one in documents(path)]
    for name, one in processes().items():
        check = compose()[name].get("healthcheck", {}).get("test", [])
        is_worker = one["metadata"].get("labels") == {"crawler/worker": "yes"}
        assert is_worker == ("worker" in container(one)["command"])
        if is_worker:
            assert ["CMD", *container(pulse)["livenessProbe"]["exec"]["command"]] == check, name
        elif name != "beat":
            (port,) = container(one)["ports"]
            assert container(one)["livenessProbe"]["httpGet"]["path"] == check[-1], name
            assert str(port["containerPort"]) == check[-2], name


def test_pods_have_no_root_and_no_rights() -> None:
    (every,) = [one for path in FILES if path.name == "every-pod.yaml" for one in documents(path)]
    servers = named("with-servers", "StatefulSet").values()
    for one in (every, *servers):
        pod = one["spec"]["template"]["spec"]
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["runAsUser"] > 0
        assert container(one)["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    (uid,) = re.findall(r"--uid (\d+) --gid", (ROOT / "Dockerfile").read_text())
    assert str(every["spec"]["template"]["spec"]["securityContext"]["runAsUser"]) == uid


def test_the_servers_are_those_of_compose() -> None:
    servers = named("with-servers", "StatefulSet")
    assert {name: container(one)["image"] for name, one in servers.items()} == {
        name: compose()[name]["image"] for name in ("postgres", "valkey")
    }
    assert container(servers["valkey"])["command"] == shlex.split(compose()["valkey"]["command"])
    assert (
        container(servers["postgres"])["livenessProbe"]["exec"]["command"]
        == (compose()["postgres"]["healthcheck"]["test"][1:])
    )


def test_what_scales_does_so_by_metrics_that_there_are() -> None:
    known = (ROOT / "docs" / "reference" / "metrics.md").read_text()
    adapter = (FOLDER / "prometheus-adapter.yaml").read_text()
    scalers = named("processes", "HorizontalPodAutoscaler")
    assert set(scalers) == {"fetch", "render"}
    for name, scaler in scalers.items():
        assert scaler["spec"]["scaleTargetRef"]["name"] == name
        assert "replicas" not in processes()[name]["spec"], "it would be set back by each `kubectl apply`"
        metrics = [one["external"]["metric"]["name"] for one in scaler["spec"]["metrics"]]
        assert metrics == ["crawler_queue_messages", "crawler_due_hosts"]
        assert all(f"`{metric}" in known and metric in adapter for metric in metrics)


def test_nodes_are_emptied_one_pod_at_a_time() -> None:
    budgets = named("processes", "PodDisruptionBudget")
    assert set(budgets) == {"api", "control", "fetch", "render"}
    for name, budget in budgets.items():
        assert budget["spec"]["selector"] == processes()[name]["spec"]["selector"]
        assert budget["spec"]["maxUnavailable"] == 1
