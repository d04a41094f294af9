"""Stand-ins for the images that Dockerfile and docker-compose.yml name, made of Debian's packages.

For a daemon of our own, which may have no registry. They behave as the real ones do in what is used of them: user,
directories, environment and start of the servers.
"""

import subprocess
from pathlib import Path

from scripts.images_check.daemon import Daemon
from scripts.images_check.debian_roots import BOOKWORM, TESTING, DebianRoots

PYTHON = "python:3.11-slim-bookworm"
SERVERS = ("postgres:18", "valkey/valkey:9")
_PERL = "perl perl-modules-5.36 libperl5.36 libfile-find-rule-perl libnumber-compare-perl libtext-glob-perl"
# What mmdebstrap brings along for merging directories, and the real image does not have, goes again.
_MAKE_PYTHON = f"""
apt-get purge -y -qq usrmerge {_PERL} > /dev/null
apt-get autoremove -y -qq --purge > /dev/null
ln -s /usr/bin/python3.11 /usr/local/bin/python
ln -s /usr/bin/python3.11 /usr/local/bin/python3
python3 -m venv /usr/local/pip
ln -s /usr/local/pip/bin/pip /usr/local/bin/pip
rm -rf /var/log/* /var/cache/apt/*.bin
"""
_START = """#!/bin/sh
set -e
[ "$1" = postgres ] || exec "$@"
export PGDATA=/var/lib/postgresql/18/docker PATH="$PATH:/usr/lib/postgresql/18/bin"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
    mkdir -p -m 0700 "$PGDATA"
    initdb -U "$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --auth-local=trust --auth-host=scram-sha-256
    echo "host all all all scram-sha-256" >> "$PGDATA/pg_hba.conf"
    pg_ctl -w -o "-c listen_addresses= -k /run/postgresql" start
    createdb -h /run/postgresql -U "$POSTGRES_USER" "$POSTGRES_DB"
    pg_ctl -w stop
fi
exec postgres -c listen_addresses="*" -k /run/postgresql
"""
_MAKE_SERVERS = """
ln -s /usr/lib/postgresql/18/bin/pg_isready /usr/local/bin/pg_isready
rm -rf /var/lib/postgresql/*
chown postgres: /var/lib/postgresql
install -d -o valkey -g valkey /data
rm -rf /var/log/* /var/cache/apt/*.bin
"""


def import_stand_ins(daemon: Daemon, folder: Path) -> None:
    roots = DebianRoots(folder)
    packages = ("ca-certificates", "netbase", "python3", "python3-venv", "tzdata", "usr-is-merged")
    python = roots.make("python", BOOKWORM, packages, _MAKE_PYTHON)
    _load(daemon, python, PYTHON, 'CMD ["python3"]')
    servers = roots.make("servers", TESTING, ("postgresql-18", "valkey-server"), _MAKE_SERVERS)
    start = servers / "start"
    start.write_text(_START)
    start.chmod(0o755)
    _load(daemon, servers, SERVERS[0], 'ENTRYPOINT ["/start"]', 'CMD ["postgres"]')
    daemon.run("docker", "tag", SERVERS[0], SERVERS[1])


def _load(daemon: Daemon, root: Path, name: str, *changes: str) -> None:
    if daemon.run("docker", "image", "ls", "--quiet", name):  # kept from the last time; a new one would undo all caches
        return
    path = "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    options = [word for change in (path, *changes) for word in ("--change", change)]
    with subprocess.Popen(["tar", "-C", root, "--one-file-system", "-c", "."], stdout=subprocess.PIPE) as tar:
        assert tar.stdout is not None
        daemon.run("docker", "import", *options, "-", name, stdin=tar.stdout.fileno())
