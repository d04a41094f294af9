"""Dependencies: each locked with its hashes, nothing installed without them, licences named, weaknesses asked for."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Mapping
from hashlib import sha256
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from itertools import chain
from pathlib import Path

import pip
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.audit import NOTHING, verdict
from scripts.licences import UNKNOWN, licence, report
from scripts.lock import BELOW, HEAD, blocks, layered

ROOT = Path(__file__).parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PIN = re.compile(r"[a-z0-9._-]+==[0-9][0-9a-z.]*( ; [a-z_]+ .*)? \\")
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")


def lock(layer: str) -> str:
    return (ROOT / "requirements" / f"{layer}.lock").read_text()


def pins(layer: str) -> dict[str, list[str]]:
    """Name -> versions, of this layer and those below it."""
    found: dict[str, list[str]] = {}
    for name in (*BELOW[layer], layer):
        for line in lock(name).splitlines():
            if PIN.fullmatch(line):
                pin = Requirement(line.removesuffix(" \\"))
                found.setdefault(canonicalize_name(pin.name), []).append(str(pin.specifier).removeprefix("=="))
    return found


# -- the lock -------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", BELOW)
def test_a_lock_has_versions_with_hashes_and_nothing_else(layer: str) -> None:
    head, *lines = lock(layer).splitlines(keepends=True)
    assert head == HEAD
    text = "".join(lines)
    for name, block in blocks(text).items():
        first, *rest = block.splitlines()
        assert PIN.fullmatch(first), name
        assert rest, f"{name} has no hash"
        assert [line for line in rest if not HASH.fullmatch(line) and not PIN.fullmatch(line)] == []
    assert "://" not in text


@pytest.mark.parametrize("layer", BELOW)
def test_the_lock_has_a_fitting_version_of_every_dependency(layer: str) -> None:
    project, known = PROJECT["project"], pins(layer)
    extras = project["optional-dependencies"]
    wanted = [*PROJECT["build-system"]["requires"], *project["dependencies"]]
    wanted += chain(*(extras[name] for name in (*BELOW[layer], layer) if name != "base"))
    for requirement in map(Requirement, wanted):
        versions = known.get(canonicalize_name(requirement.name), [])
        assert versions, f"{requirement.name} is not locked; run make lock"
        assert all(requirement.specifier.contains(version) for version in versions), requirement.name


def test_every_extra_has_its_lock_and_a_package_one_version() -> None:
    extras = set(PROJECT["project"]["optional-dependencies"]) - {"all"}  # it names others
    assert set(BELOW) == {"base"} | extras
    assert {path.stem for path in (ROOT / "requirements").iterdir()} == set(BELOW)
    versions: dict[str, str] = {}
    for layer in BELOW:
        for name, block in blocks(lock(layer).removeprefix(HEAD)).items():
            assert versions.setdefault(name, block) == block, f"{name} is locked twice"


def test_layers_hold_what_those_below_do_not() -> None:
    locked = blocks(
        "a==1 \\\n    --hash=sha256:00\nb==2 ; os_name == 'nt' \\\n    --hash=sha256:01\nb==3 \\\n    --hash=x\n"
    )
    assert list(locked) == ["a", "b"]
    texts = layered(locked, {"base": ["a"], "notify": ["a", "b"]})
    assert texts == {"base": HEAD + locked["a"], "notify": HEAD + locked["b"]}


def test_nothing_is_installed_without_its_hash() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text().replace("\\\n", " ")
    shown = ["make", "--dry-run", "--always-make", "VENV=nowhere"]
    asked = [f"nowhere/{what}" for what in (".base", ".full", ".docs", ".dist")]
    made = subprocess.run([*shown, *asked], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"pip (?:--python \S+ )?(?:install|wheel|download) [^\n&|>]*", dockerfile + made)
    installs = [" ".join(words.split()) for words in found]
    assert len(installs) >= 10
    assert len([install for install in installs if "--python" in install]) == 4
    for install in installs:
        ours = " --no-deps --no-build-isolation -e ." in install or " --no-deps --no-index " in install
        assert ours or (" --require-hashes --only-binary :all: -r requirements/" in install and " -c " not in install)


def _wheel(folder: Path) -> str:
    """A tiny package; its hash."""
    folder.mkdir()
    path = folder / "tiny_locked-1.0-py3-none-any.whl"
    about = "tiny_locked-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("tiny_locked.py", "")
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny-locked\nVersion: 1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    return sha256(path.read_bytes()).hexdigest()


@pytest.mark.slow
def test_make_refuses_a_file_with_another_hash(tmp_path: Path) -> None:
    """The real Makefile, with a lock of one package: as locked it is installed, with one digit changed it is not."""
    digest = _wheel(tmp_path / "wheels")
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "tiny.py").write_text("")
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "tiny"\nversion = "1"\n')
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "venv"], check=True)
    # pip of this environment, so that none has to be fetched.
    env = os.environ | {
        "PYTHONPATH": str(Path(pip.__file__).parents[1]),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": "wheels",
    }

    def install(hash_: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "requirements/base.lock").write_text(f"tiny-locked==1.0 \\\n    --hash=sha256:{hash_}\n")
        command = ["make", "VENV=venv", "venv/.base"]
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    altered = install(digest[:-1] + ("0" if digest[-1] != "0" else "1"))
    assert altered.returncode != 0
    assert "THESE PACKAGES DO NOT MATCH THE HASHES" in altered.stderr
    assert list(tmp_path.glob("venv/lib/*/site-packages/tiny_locked.py")) == []
    install(digest)  # what follows, the project itself, is not looked at here
    assert len(list(tmp_path.glob("venv/lib/*/site-packages/tiny_locked.py"))) == 1


# -- licences -------------------------------------------------------------------------------


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:  # of another platform
        return None


def test_everything_that_is_delivered_names_its_licence() -> None:
    found = [package for name in pins("embed") if (package := _installed(name))]
    assert len(found) > 100
    assert [package.name for package in found if licence(package.metadata) == UNKNOWN] == []


def test_the_report_has_a_line_and_the_text_of_each_package() -> None:
    text = report([distribution("redis"), distribution("celery")])
    assert re.search(r"^celery [0-9.]+: BSD-3-Clause$", text, re.MULTILINE)
    assert text.index("celery ") < text.index("redis ")
    assert "Permission is hereby granted, free of charge" in text


# -- weaknesses -----------------------------------------------------------------------------


def _answer(*versions: Mapping[str, object]) -> str:
    return json.dumps({"dependencies": [{"name": "redis", "version": "1.0", **version} for version in versions]})


def test_an_audit_says_plainly_what_it_knows() -> None:
    weak = {"vulns": [{"id": "X-1", "fix_versions": ["1.1"]}]}
    assert verdict(_answer({"vulns": []})) == (0, "1 of 1 locked versions were checked, without a known weakness.")
    assert verdict(_answer({"vulns": []}, weak)) == (
        1, "redis 1.0: X-1, mended in 1.1\n2 of 2 locked versions were checked.",
    )  # fmt: skip


def test_an_audit_that_reached_nobody_is_no_good_news() -> None:
    unknown = {"skip_reason": "not found"}
    assert verdict("") == verdict(_answer(unknown, unknown)) == (2, NOTHING)
    status, words = verdict(_answer({"vulns": []}, unknown))
    assert (status, words.startswith("1 of 2 ")) == (2, True)
