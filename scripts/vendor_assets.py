"""Downloads the dashboard's third-party assets from npm packages: `make assets`.

`assets.json` names package, version, file and SHA-256 of each. A file with another hash is refused. `--record` writes
the new hashes instead, for a new version that somebody has reviewed. The files are part of the repository, so running
the product does not need this.
"""

import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "scripts" / "assets.json"


def main(arguments: list[str]) -> int:
    record: list[dict[str, Any]] = json.loads(RECORD.read_text())
    wrong = []
    with tempfile.TemporaryDirectory() as scratch:
        for package in record:
            archive = _pack(f"{package['package']}@{package['version']}", Path(scratch))
            for file in package["files"]:
                found = _read(archive, file["from"])
                digest = hashlib.sha256(found).hexdigest()
                if "--record" in arguments:
                    file["sha256"] = digest
                if digest != file["sha256"]:
                    wrong.append(f"{package['package']} {file['from']} has another hash: {digest}")
                    continue
                _write(ROOT / file["to"], found)
    if "--record" in arguments:
        RECORD.write_text(json.dumps(record, indent=2) + "\n")
    sys.stderr.writelines(f"{line}\n" for line in wrong)
    return 1 if wrong else 0


def _pack(name: str, scratch: Path) -> Path:
    told = subprocess.run(  # noqa: S603 - our own words
        ["npm", "pack", "--silent", name],  # noqa: S607 - whichever npm the person has
        cwd=scratch,
        check=True,
        capture_output=True,
        text=True,
    )
    return scratch / told.stdout.split()[-1]


def _read(archive: Path, path: str) -> bytes:
    with tarfile.open(archive) as tar:
        member = tar.extractfile(f"package/{path}")
        assert member is not None, path
        return member.read()


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
