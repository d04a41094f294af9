"""A certificate authority for tests: it signs whatever it is asked to."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Authority:
    directory: Path
    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate

    @classmethod
    def create(cls, directory: Path) -> "Authority":
        key = ec.generate_private_key(ec.SECP256R1())
        name = _name("Test authority")
        builder = _builder(name, name, key, -DAY, DAY)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        authority = cls(directory, key, builder.sign(key, hashes.SHA256()))
        authority.bundle.write_bytes(_pem(authority.certificate))
        return authority

    @property
    def bundle(self) -> Path:
        return self.directory / "authority.pem"

    def context(
        self, host: str, *, valid: tuple[timedelta, timedelta] = (-DAY, DAY), self_signed: bool = False
    ) -> ssl.SSLContext:
        """A server's TLS side with a certificate for `host`."""
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = _name(host) if self_signed else self.certificate.subject
        builder = _builder(_name(host), issuer, key, *valid)
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        certificate = builder.sign(key if self_signed else self.key, hashes.SHA256())
        path = self.directory / f"{certificate.serial_number:x}.pem"
        path.write_bytes(_pem(certificate) + _key_pem(key))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, start: timedelta, end: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + start)
        .not_valid_after(now + end)
    )


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _key_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
