"""URLs of Postgres, Redis and object storage as people write them, several servers included, and as libraries do."""

import re
from typing import NamedTuple
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit, urlunsplit

POSTGRES_EXAMPLE = "must look like postgresql://user:password@host:5432/name, or host1:5432,host2:5432 for several"
REDIS_EXAMPLE = "must look like redis://:password@host:6379/0 or sentinel://:password@host1,host2,host3/service/0"
OBJECTS_EXAMPLE = "must look like s3://bucket/folder or file:///directory, without a password"
SENTINEL = "sentinel"
SENTINEL_PORT = 26379


def postgres_url(url: str) -> str:
    """The URL for SQLAlchemy. Several hosts are tried in turn, and the one that may be written to is used."""
    scheme, found, rest = url.partition("://")
    if not found or scheme.split("+")[0] not in {"postgresql", "postgres"}:
        raise ValueError(POSTGRES_EXAMPLE)
    parts = urlsplit(f"postgresql+psycopg2://{rest}")
    login, _, hosts = parts.netloc.rpartition("@")
    if "," not in hosts:
        return parts.geturl()
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    named = [("host", _host_and_port(host)) for host in hosts.split(",")]
    query.setdefault("target_session_attrs", "read-write")
    return urlunsplit(parts._replace(netloc=f"{login}@", query=urlencode([*named, *query.items()], safe=":")))


def _host_and_port(host: str) -> str:
    name, _, port = host.partition(":")
    if not name or not (port or "0").isdecimal():
        raise ValueError(POSTGRES_EXAMPLE)
    return f"{name}:{port or 5432}"


class SentinelUrl(NamedTuple):
    """`sentinel://user:password@host1:26379,host2/service/database?sentinel_password=…`."""

    hosts: tuple[tuple[str, int], ...]
    service: str
    """The name under which the sentinels know the servers; also called master name."""
    database: int
    username: str | None
    password: str | None
    sentinel_password: str | None
    """Of the sentinels themselves, if they ask for one."""

    @classmethod
    def read(cls, url: str) -> "SentinelUrl | None":
        """None if this is the URL of one server. Raises ValueError if something is missing."""
        parts = urlsplit(url)
        if parts.scheme != SENTINEL:
            return None
        login, _, hosts = parts.netloc.rpartition("@")
        user, _, password = login.partition(":")
        service, _, database = parts.path.strip("/").partition("/")
        if not hosts or not service:
            raise ValueError(REDIS_EXAMPLE)
        told = parse_qs(parts.query).get("sentinel_password")
        return cls(
            hosts=tuple(map(_sentinel, hosts.split(","))),
            service=unquote(service),
            database=int(database or 0),
            username=unquote(user) or None,
            password=unquote(password) or None,
            sentinel_password=told[0] if told else None,
        )

    @property
    def sentinel_options(self) -> dict[str, str]:
        return {"password": self.sentinel_password} if self.sentinel_password else {}

    def for_celery(self) -> str:
        """As Celery and Kombu write it: one URL for each sentinel. The service's name is an option of its own there."""
        login = f"{quote(self.username or '', safe='')}:{quote(self.password or '', safe='')}@"
        login = login if self.password else ""
        return ";".join(f"{SENTINEL}://{login}{host}:{port}/{self.database}" for host, port in self.hosts)


def _sentinel(host: str) -> tuple[str, int]:
    name, _, port = host.partition(":")
    if not name:
        raise ValueError(REDIS_EXAMPLE)
    return name, int(port or SENTINEL_PORT)


def several_urls(text: str) -> tuple[str, ...]:
    """URLs that are separated by commas. One URL may itself name several hosts, with commas between them."""
    return tuple(url for part in re.split(r",(?=\s*[a-z]+://)", text) if (url := part.strip().rstrip(",")))


def is_object_storage(url: str) -> bool:
    return re.fullmatch(r"(s3|gs|az)://[^/\s@#?]+(/[^\s#?]*)?|file:///[^\s#?]+", url) is not None


def has_redis_server(url: str) -> bool:
    parts = urlsplit(url)
    return bool(parts.path) if parts.scheme == "unix" else bool(parts.hostname)


def redis_database(url: str, offset: int) -> str:
    """The URL of the database that comes so many numbers later."""
    parts = urlsplit(url)
    if parts.scheme == "unix":
        query = dict(p.partition("=")[::2] for p in parts.query.split("&") if p)
        query["db"] = str(int(query.get("db") or 0) + offset)
        joined = "&".join(f"{k}={v}" for k, v in query.items())
        return f"unix://{parts.netloc}{parts.path}?{joined}"
    service, number = "", parts.path.strip("/")
    if parts.scheme == SENTINEL:
        service, _, number = number.partition("/")
    path = f"/{service}/{int(number or 0) + offset}" if service else f"/{int(number or 0) + offset}"
    return urlunsplit(parts._replace(path=path))


def celery_url(url: str) -> str:
    """A Redis URL as Celery writes it: unix sockets and sentinels have another spelling there."""
    if sentinels := SentinelUrl.read(url):
        return sentinels.for_celery()
    return url.replace("unix://", "redis+socket://").replace("db=", "virtual_host=") if "unix://" in url else url
