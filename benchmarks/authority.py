"""A certificate authority for one run, made with openssl: nobody else trusts it, and it is thrown away."""

import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")


@dataclass(frozen=True)
class Certificate:
    certificate: Path
    key: Path
    bundle: Path
    """Who signed it: what a client has to trust."""


@contextmanager
def certificate(addresses: Sequence[str]) -> Iterator[Certificate]:
    """For servers on these addresses."""
    with tempfile.TemporaryDirectory(prefix="bench-ca-") as folder:
        home = Path(folder)
        made = Certificate(home / "server.pem", home / "server.key", home / "ca.pem")
        names = ",".join(f"IP:{address}" for address in addresses)
        _openssl(
            "req", "-x509", *_EC, "-subj", "/CN=Benchmark authority", "-days", "2",
            "-keyout", str(home / "ca.key"), "-out", str(made.bundle),
        )  # fmt: skip
        _openssl(
            "req", "-x509", *_EC, "-subj", f"/CN={addresses[0]}", "-days", "2", "-CA", str(made.bundle),
            "-CAkey", str(home / "ca.key"), "-addext", f"subjectAltName={names}",
            "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", str(made.key), "-out", str(made.certificate),
        )  # fmt: skip
        yield made


def _openssl(*arguments: str) -> None:
    try:
        subprocess.run(["openssl", *arguments], check=True, capture_output=True)
    except FileNotFoundError as exc:
        raise SystemExit("The benchmark needs openssl; get it with: apt-get install openssl") from exc
    except subprocess.CalledProcessError as exc:
        raise SystemExit(f"openssl made no certificate: {exc.stderr.decode().strip()}") from exc
