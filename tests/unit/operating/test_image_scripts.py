"""What stands in the images beside the program: health check, maker of secrets, and the list of what is left out."""

import os
import re
import socket
import stat
import subprocess
import threading
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from crawler.config import load_settings
from deploy.image.trim import UNUSED, trim_lock

ROOT = Path(__file__).parents[3]
SCRIPTS = ROOT / "deploy" / "image"


def status(*words: str, **environment: str) -> int:
    env = {"PATH": os.environ["PATH"], **environment}
    return subprocess.run([str(SCRIPTS / "healthy"), *words], env=env, capture_output=True, check=False).returncode


# -- health -----------------------------------------------------------------------------------


def test_a_pulse_counts_for_half_a_minute(tmp_path: Path) -> None:
    pulse = tmp_path / "pulse"
    assert status("pulse", CRAWLER_PULSE_FILE=str(pulse)) == 1
    pulse.touch()
    assert status("pulse", CRAWLER_PULSE_FILE=str(pulse)) == 0
    long_ago = pulse.stat().st_mtime - 120
    os.utime(pulse, (long_ago, long_ago))
    assert status("pulse", CRAWLER_PULSE_FILE=str(pulse)) == 1
    assert status("pulse") == 1


class _Answers(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/well" else 503)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def service() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield str(server.server_port)
        finally:
            server.shutdown()
            thread.join()


def test_a_service_is_well_when_it_answers_so() -> None:
    with service() as port:
        assert status("http", port, "/well") == 0
        assert status("http", port, "/ill") == 1
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        assert status("http", str(taken.getsockname()[1]), "/well") == 1


def test_anything_else_is_not_well() -> None:
    assert status() != 0
    assert status("nonsense") != 0


# -- secrets ----------------------------------------------------------------------------------


class Volumes:
    """The three volumes of docker-compose.yml, as directories."""

    def __init__(self, folder: Path) -> None:
        self.ours, self.postgres, self.valkey = (folder / name for name in ("ours", "postgres", "valkey"))
        for place in (self.ours, self.postgres, self.valkey):
            place.mkdir()

    def make(self, **environment: str) -> str:
        places = {
            "CRAWLER_SECRETS_DIR": str(self.ours),
            "POSTGRES_SECRETS_DIR": str(self.postgres),
            "VALKEY_SECRETS_DIR": str(self.valkey),
        }
        env = {"PATH": os.environ["PATH"], **places, **environment}
        done = subprocess.run([str(SCRIPTS / "make-secrets")], env=env, capture_output=True, text=True, check=True)
        return done.stdout

    def files(self) -> dict[str, str]:
        places = (self.ours, self.postgres, self.valkey)
        return {f"{place.name}/{path.name}": path.read_text() for place in places for path in place.iterdir()}


@pytest.fixture
def volumes(tmp_path: Path) -> Volumes:
    return Volumes(tmp_path)


def test_secrets_are_made_once_and_told_where(volumes: Volumes) -> None:
    told = volumes.make()
    assert f"{volumes.ours}/crawler_secret_key" in told
    assert "crawler key create admin --scope admin" in told
    made = volumes.files()
    assert set(made) == {
        "ours/crawler_database_url", "ours/crawler_flower_basic_auth", "ours/crawler_redis_url",
        "ours/crawler_secret_key", "postgres/password", "valkey/password", "valkey/valkey.conf",
    }  # fmt: skip
    assert not [secret for secret in made.values() if secret in told]
    assert len(urlsafe_b64decode(made["ours/crawler_secret_key"])) == 32
    assert made["postgres/password"] in made["ours/crawler_database_url"]
    assert made["postgres/password"] != made["valkey/password"]
    volumes.make(POSTGRES_PASSWORD="", CRAWLER_SECRET_KEY="")
    assert volumes.files() == made


def test_ours_are_for_us_alone(volumes: Volumes) -> None:
    volumes.make()
    assert {stat.S_IMODE(path.stat().st_mode) for path in volumes.ours.iterdir()} == {0o600}


def test_what_the_environment_says_is_taken_whatever_its_letters(
    volumes: Volumes, monkeypatch: pytest.MonkeyPatch
) -> None:
    volumes.make()
    odd = 'a/b@c:d%20"\\é'
    volumes.make(POSTGRES_PASSWORD=odd, REDIS_PASSWORD=odd, FLOWER_BASIC_AUTH="me:mine")
    monkeypatch.setenv("CRAWLER_SECRETS_DIR", str(volumes.ours))
    for name in ("CRAWLER_DATABASE_URL", "CRAWLER_REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    settings = load_settings()
    from redis import Redis  # noqa: PLC0415 - as the settings themselves do
    from sqlalchemy import make_url  # noqa: PLC0415

    assert settings.database_url is not None
    assert make_url(settings.database_url.get_secret_value()).password == odd
    with Redis.from_url(settings.redis_database(0)) as client:
        assert client.connection_pool.connection_kwargs["password"] == odd
    assert volumes.files()["valkey/valkey.conf"] == 'requirepass "a/b@c:d%20\\"\\\\é"\n'


@pytest.mark.slow
def test_a_key_that_is_replaced_is_not_lost(volumes: Volumes) -> None:
    volumes.make()
    first = volumes.files()["ours/crawler_secret_key"]
    told = volumes.make(CRAWLER_SECRET_KEY="another")
    kept = volumes.ours / "crawler_secret_key.before"
    assert kept.read_text().split() == [first]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert str(kept) in told
    assert str(kept) not in volumes.make(CRAWLER_SECRET_KEY="another")
    volumes.make(CRAWLER_SECRET_KEY="a third")
    assert kept.read_text().split() == [first, "another"]


@pytest.mark.slow
def test_a_database_that_has_another_password_has_to_be_told(volumes: Volumes) -> None:
    assert "ALTER ROLE" not in volumes.make(POSTGRES_PASSWORD="one")
    assert "ALTER ROLE" not in volumes.make(POSTGRES_PASSWORD="one")
    told = volumes.make(POSTGRES_PASSWORD="two")
    assert "ALTER ROLE crawler PASSWORD" in told
    assert "two" not in told


# -- what is left out -------------------------------------------------------------------------


def test_a_package_is_taken_out_of_a_lock_with_all_its_lines(tmp_path: Path) -> None:
    lock = tmp_path / "some.lock"
    kept = [
        "# Head.\n",
        "scapy==1 \\\n    --hash=sha256:00 \\\n    --hash=sha256:01\n",
        "xxhash==3 \\\n    --hash=sha256:04\n",
    ]
    out = ["scipy==1 ; python_version < '3.12' \\\n    --hash=sha256:02\n", "scipy==2 \\\n    --hash=sha256:03\n"]
    lock.write_text("".join([*kept[:2], *out, kept[2]]))
    trim_lock(lock)
    assert lock.read_text() == "".join(kept)


def test_what_an_image_leaves_out_is_locked_for_it() -> None:
    locks = "".join((ROOT / "requirements" / f"{layer}.lock").read_text() for layer in ("base", "notify", "render"))
    assert set(re.findall(r"^([a-z0-9._-]+)==", locks, re.MULTILINE)) >= UNUSED
