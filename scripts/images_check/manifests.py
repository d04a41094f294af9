"""The Kubernetes manifests: put together by kustomize, as a cluster would get them, and validated."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import yaml

from crawler.lazy_module import LazyModule
from scripts.images_check.daemon import Daemon
from scripts.images_check.running import Failed

kubernetes_validate = LazyModule("kubernetes_validate")  # its import takes seconds: it makes many grammars
OVERLAYS = ("processes", "with-servers")
DEPLOYMENTS = 9


def check_manifests(daemon: Daemon, source: Path) -> Iterator[tuple[str, bool, str]]:
    command = _kustomize(daemon)
    if not command:
        yield "the manifests were not built", True, "neither kustomize nor kubectl is here"
        return
    for overlay in OVERLAYS:
        try:
            made = daemon.run(*command, source / "deploy" / "kubernetes" / overlay)
            yield f"a cluster takes the manifests {overlay}", _count(made) == DEPLOYMENTS, ""
        except (Failed, kubernetes_validate.ValidationError) as exc:
            yield f"a cluster takes the manifests {overlay}", False, str(exc)


def _kustomize(daemon: Daemon) -> list[str]:
    if daemon.is_own or shutil.which("kustomize"):
        return ["kustomize", "build"]
    return ["kubectl", "kustomize"] if shutil.which("kubectl") else []


def _count(made: str) -> int:
    """How many deployments there are; every document must be valid."""
    documents = list(yaml.safe_load_all(made))
    for document in documents:
        kubernetes_validate.validate(document, kubernetes_validate.latest_version(), strict=True)
    return sum(document["kind"] == "Deployment" for document in documents)
