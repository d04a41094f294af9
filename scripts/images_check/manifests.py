"""The Kubernetes manifests: put together by kustomize, as a cluster would get them, and validated."""

from collections.abc import Iterator
from pathlib import Path

from scripts.images_check.daemon import Daemon
from scripts.images_check.running import Failed

OVERLAYS = ("processes", "with-servers")


def check_manifests(daemon: Daemon, source: Path) -> Iterator[tuple[str, bool, str]]:
    for overlay in OVERLAYS:
        try:
            made = daemon.run("kustomize", "build", source / "deploy" / "kubernetes" / overlay)
        except (Failed, OSError) as exc:
            yield f"kustomize builds {overlay}", False, str(exc)
            continue
        yield f"kustomize builds {overlay}", made.count("kind: Deployment") == 9, ""
