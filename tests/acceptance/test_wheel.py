"""The wheel has all it needs: installed where there is no clone, it crawls and serves in an empty directory.

`make dist` does the same with dependencies from the locks; here they are borrowed from this environment, to be quick.
"""

import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from scripts.try_install import try_install

ROOT = Path(__file__).parents[2]
SOURCES = ("crawler", "workers", "migrations", "docs", "pyproject.toml", "README.md", "LICENSE")


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_wheel_crawls_and_serves_in_an_empty_directory(tmp_path: Path) -> None:
    source, place = tmp_path / "source", tmp_path / "place"
    for name in SOURCES:  # what is built must not lie in the clone
        found, target = ROOT / name, source / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if found.is_dir():
            shutil.copytree(found, target, ignore=shutil.ignore_patterns("__pycache__", "_build"))
        else:
            shutil.copy(found, target)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    build = [*pip, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(tmp_path), str(source)]
    subprocess.run(build, check=True, capture_output=True, timeout=100)
    (wheel,) = tmp_path.glob("crawl_watcher-*.whl")
    venv.create(place, with_pip=False)
    packages = next(place.glob("lib/python*/site-packages"))
    # A line in a .pth file adds a folder, and none of the .pth files there: so not the clone.
    (packages / "borrowed.pth").write_text(sysconfig.get_paths()["purelib"])
    install = [*pip, "--python", str(place / "bin/python"), "install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run(install, check=True, capture_output=True, timeout=100)
    empty = tmp_path / "empty"
    empty.mkdir()
    where = subprocess.run(
        [place / "bin/python", "-I", "-c", "import crawler; print(crawler.__file__)"],
        cwd=empty, capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert str(packages) in where.stdout
    assert (place / "share/crawler/docs/how-to/watch-a-site.md").is_file(), "the dashboard shows them"
    try_install(place / "bin", empty)
