"""The two images: built from a copy of the sources, measured, looked into."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from scripts.images_check.daemon import Daemon

ROOT = Path(__file__).parents[2]
NAME = "crawler-check"
TARGETS = {"light": 300, "render": 1200}
"""The largest size in MB that an image may have."""
# Programs that an image needs to be built and not to be run.
TOOLS = ("gcc", "cc", "make", "strip", "pip", "pip3", "apt-get", "perl", "git")


def copy_sources(target: Path) -> None:
    """What git knows or would take, as it is now."""
    shutil.rmtree(target, ignore_errors=True)
    listed = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listed, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def build(daemon: Daemon, source: Path, target: str, log: Path) -> None:
    network = ["--network", "host"] if daemon.is_own else []
    command = ["docker", "buildx", "build", "--load", "--progress", "plain", *network, *_secrets(daemon, source.parent)]
    daemon.run(*command, "--target", target, "--tag", f"{NAME}:{target}", source, seconds=3600, log=log)


def _secrets(daemon: Daemon, folder: Path) -> list[str]:
    """The index and certificates that pip uses on this machine, for the build alone."""
    lines, words = ["[global]"], []
    certificates = os.environ.get("PIP_CERT") or os.environ.get("SSL_CERT_FILE")
    if certificates and Path(certificates).is_file():
        shutil.copy(certificates, folder / "ca.crt")
        lines.append("cert = /run/secrets/ca")
        words += ["--secret", f"id=ca,src={daemon.path(folder / 'ca.crt')}"]
    if index := os.environ.get("PIP_INDEX_URL"):
        lines.append(f"index-url = {index}")
    (folder / "pip.conf").write_text("\n".join(lines) + "\n")
    return [*words, "--secret", f"id=pip,src={daemon.path(folder / 'pip.conf')}"]


def megabytes(daemon: Daemon, target: str) -> float:
    return int(daemon.run("docker", "image", "inspect", "--format", "{{.Size}}", f"{NAME}:{target}")) / 1e6


def layers(daemon: Daemon, target: str) -> list[str]:
    found = daemon.run("docker", "image", "inspect", "--format", "{{json .RootFS.Layers}}", f"{NAME}:{target}")
    return list(json.loads(found))


def tools_left(daemon: Daemon, target: str) -> str:
    """Programs and caches in the image that only a build needs."""
    caches = "ls -d /root/.cache/pip /var/lib/apt/lists/* 2> /dev/null; true"
    look = f"for t in {' '.join(TOOLS)}; do command -v $t; done; {caches}"
    words = ["docker", "run", "--rm", "--network", "none", "--user", "0", "--entrypoint", "sh"]
    return " ".join(daemon.run(*words, f"{NAME}:{target}", "-c", look).split())


def check_images(daemon: Daemon, source: Path, log: Path) -> Iterator[tuple[str, bool, str]]:
    """Sizes and contents, and that an edit of the source makes nothing but the last layer anew."""
    for target, most in TARGETS.items():
        size = megabytes(daemon, target)
        yield f"{target} image", size <= most, f"{size:.0f} MB, at most {most}"
        left = tools_left(daemon, target)
        yield f"{target} image has no tools of its build", not left, left or "none"
    before = {target: layers(daemon, target) for target in TARGETS}
    edited = source / "crawler" / "config.py"
    edited.write_text(edited.read_text() + "\n# An edit.\n")
    for target in TARGETS:
        build(daemon, source, target, log)
        old, new = before[target], layers(daemon, target)
        kept = sum(one == other for one, other in zip(old, new, strict=False))
        yield f"an edit makes one layer of {target} anew", kept == len(old) - 1, f"{kept} of {len(old)} layers stayed"
