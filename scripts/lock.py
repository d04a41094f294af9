"""Lock all dependencies: each version with the hashes of its files, for every platform, in `requirements/`.

A file for each set of extras holds what it needs beyond the sets below it: `make run` installs nothing that only tests
need. All of them are cut from one resolution: the same package has one version everywhere. Run by `make lock`.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "requirements"
BELOW: Mapping[str, tuple[str, ...]] = {
    "base": (),
    "notify": ("base",),
    "render": ("base", "notify"),
    "embed": ("base", "notify", "render"),
    "objects": ("base", "notify", "render", "embed"),
    "dev": ("base", "notify", "render", "embed", "objects"),
    "docs": ("base",),
    "dist": ("base", "notify", "render", "embed", "objects", "dev"),
}
"""Sets of extras, each with those it is installed on top of."""
HEAD = "# Versions and hashes for pip --require-hashes; made by make lock.\n"
_OPTIONS = "--universal --python-version 3.11 --no-header --no-annotate --no-emit-index-url --no-emit-find-links -q"
_PIN = re.compile(r"([A-Za-z0-9._-]+)==")

Blocks = dict[str, str]
"""Name of a package -> its lines, for every platform."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder, "build.in")
        build.write_text("\n".join(tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]))
        extras = [option for layer in BELOW if layer != "base" for option in ("--extra", layer)]
        locked = compiled([str(build), *extras, "--upgrade", "--generate-hashes"])
        known = Path(folder, "known.txt")
        known.write_text(locked)
        names = {
            layer: set(blocks(compiled([str(build), *_extras(layer), "--constraint", str(known)]))) for layer in BELOW
        }
    FOLDER.mkdir(exist_ok=True)
    for layer, text in layered(blocks(locked), names).items():
        (FOLDER / f"{layer}.lock").write_text(text)


def _extras(layer: str) -> list[str]:
    return [option for name in (*BELOW[layer], layer) if name != "base" for option in ("--extra", name)]


def compiled(arguments: Sequence[str]) -> str:
    command = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", *_OPTIONS.split(), *arguments]
    return subprocess.run(command, cwd=ROOT, check=True, text=True, stdout=subprocess.PIPE).stdout  # noqa: S603


def blocks(text: str) -> Blocks:
    """The lines of each package: its pins, each followed by its hashes."""
    found: Blocks = {}
    name = ""
    for line in text.splitlines(keepends=True):
        if pin := _PIN.match(line):
            name = pin[1]
        found[name] = found.get(name, "") + line
    return found


def layered(locked: Blocks, names: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """The text of each layer's file."""
    texts = {}
    for layer, mine in names.items():
        below = {name for other in BELOW[layer] for name in names[other]}
        texts[layer] = HEAD + "".join(locked[name] for name in sorted(set(mine) - below))
    return texts


if __name__ == "__main__":
    main()
