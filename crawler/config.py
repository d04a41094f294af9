"""Settings from environment variables (`CRAWLER_…`). Only this module reads the environment."""

import os
import re
from functools import cached_property
from ipaddress import ip_network
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from crawler.domain.hosts.egress import EgressRule
from crawler.errors import SettingsError
from crawler.server_urls import (
    OBJECTS_EXAMPLE,
    POSTGRES_EXAMPLE,
    REDIS_EXAMPLE,
    SentinelUrl,
    celery_url,
    has_redis_server,
    is_object_storage,
    postgres_url,
    redis_database,
    several_urls,
)

PREFIX = "CRAWLER_"


def _default_data_dir() -> Path:
    home = os.environ.get("XDG_DATA_HOME")
    return Path(home) / "crawler" if home else Path("~/.local/share/crawler")


class Settings(BaseSettings):
    """Every field is an environment variable with the prefix `CRAWLER_`; `docs/reference/settings.md` lists all."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True, env_ignore_empty=True)

    # servers
    database_url: SecretStr | None = Field(None, description="Postgres; unset starts an embedded one")
    redis_url: SecretStr | None = Field(None, description="Redis, Valkey or sentinels; unset starts an embedded one")
    frontier_urls: SecretStr | None = Field(
        None, description="Comma-separated Redis servers that share the frontier by host; unset is REDIS_URL"
    )
    broker_url: SecretStr | None = Field(
        None, description="Celery broker, or members of a cluster separated by `;`; unset is database n+1 of REDIS_URL"
    )
    broker_queue_type: Literal["classic", "quorum"] = Field(
        "classic", description="RabbitMQ's queues: on one server, or copied to the members of a cluster"
    )
    data_dir: Path = Field(default_factory=_default_data_dir, description="Embedded servers, keys, logs")
    secret_key: SecretStr | None = Field(
        None, description="Encrypts projects' credentials; unset keeps one in DATA_DIR"
    )
    snapshot_url: str | None = Field(
        None, description="Where pages are kept, s3://bucket/folder or file:///directory; unset is Postgres"
    )
    secrets_dir: Path | None = Field(
        None, description="Directory of files named like variables in lower case (crawler_secret_key); variables win"
    )
    database_pool_size: int = Field(5, ge=1, le=100, description="Postgres connections a process may hold")

    # the HTTP service
    api_url: str | None = Field(None, description="Where the CLI finds the service; unset is this machine")
    api_key: SecretStr | None = Field(
        None, description="Key the CLI sends; unset reads the data directory, for services on loopback"
    )
    api_host: str = Field("127.0.0.1", description="Address `crawler up` binds")
    api_port: int = Field(8800, ge=0, le=65535, description="Port `crawler up` binds")
    no_auth: bool = Field(default=False, description="Ask for no key; only this machine is served then")
    cors_origins: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Comma-separated origins (https://my.site) whose pages may use the service"
    )
    trusted_proxies: Annotated[tuple[str, ...], NoDecode] = Field(
        (),
        description="Comma-separated addresses or networks of reverse proxies whose X-Forwarded-For is believed",
    )
    firecrawl_door: bool = Field(default=True, description="Serve Firecrawl's API at /v2, with the same keys")
    mcp_door: bool = Field(default=True, description="Serve agents (MCP) at /mcp, with the same keys")
    flower_host: str = Field("127.0.0.1", description="Address Flower binds; off loopback only with FLOWER_BASIC_AUTH")
    flower_port: int = Field(5555, ge=0, le=65535, description="Port of Flower")
    flower_basic_auth: SecretStr | None = Field(None, description="user:password of Flower's page")

    # fetching
    user_agent: str = Field(
        "crawler/0.1 (+https://example.org/bot; set CRAWLER_USER_AGENT)",
        min_length=1,
        max_length=300,
        pattern=r"^[\x20-\x7e]+$",
        description="Sent with each request; should name a contact",
    )
    proxy_url: SecretStr | None = Field(
        None,
        description="HTTP proxy for page fetches. It looks names up itself, so it has to refuse private addresses, too",
    )
    ca_bundle: Path | None = Field(None, description="Certificates to trust instead of the system's")
    egress_allow: Annotated[tuple[str, ...], NoDecode] = Field(
        (), description="Comma-separated CIDRs or host:port that may be reached although they are not public"
    )
    http_timeout_seconds: float = Field(15, gt=0, le=600, description="Deadline of one request")
    max_redirects: int = Field(5, ge=0, le=20, description="Redirects followed for one URL")
    max_body_bytes: int = Field(5 * 1024 * 1024, gt=0, description="Largest body kept, decompressed")
    max_pages_ceiling: int = Field(1000, gt=0, description="Largest max_pages a project may ask for")

    # the engine
    shift_seconds: float = Field(20, gt=0, le=300, description="Longest time a fetch task holds its slot")
    lease_seconds: float = Field(60, gt=0, le=3600, description="After which a silent worker's URLs go back")
    fetch_concurrency: int = Field(0, ge=0, le=64, description="Fetch processes; 0 is one per core")
    reconcile_seconds: float = Field(15, gt=0, le=300, description="How often lost work is looked for")
    queue_batch_size: int = Field(500, gt=0, le=10_000, description="Queue entries taken per run")
    queue_concurrency: int = Field(
        500, gt=0, le=10_000, description="Queue entries fetched at once, and some on top for projects with few"
    )
    extract_timeout_seconds: float = Field(20, gt=0, le=60, description="Most CPU time in which selectors read a page")
    requests_per_host_hour: int = Field(0, ge=0, description="Extra limit per host; 0 is none")
    keep_versions: int = Field(0, ge=0, description="Newest versions of a page kept by 'crawler prune'; 0 is all")
    keep_crawl_days: int = Field(0, ge=0, description="Days a crawl's URL list is kept by 'crawler prune'; 0 is all")
    request_log_days: int = Field(7, ge=1, description="How long request starts are kept")

    # documents
    chunk_tokens: int = Field(400, ge=50, le=8000, description="Largest piece of a document; a token is about 4 bytes")
    chunk_overlap_tokens: int = Field(40, ge=0, le=1000, description="What two pieces of one section share at most")
    embed_url: str | None = Field(
        None, description="An OpenAI-compatible service (https://host/v1), or 'local'; unset is no vectors"
    )
    embed_model: str | None = Field(None, max_length=200, description="Its model; of 'local' a folder or a name")
    embed_key: SecretStr | None = Field(None, description="Key sent to it")
    embed_dimension: int | None = Field(None, ge=1, le=4000, description="Numbers in each of its vectors")
    embed_batch: int = Field(64, ge=1, le=2048, description="Texts sent to it at once")
    embed_timeout_seconds: float = Field(15, gt=0, le=600, description="Deadline of an answer of it, tries included")

    # telling others
    advise_url: str | None = Field(
        None, description="An OpenAI-compatible service (https://host/v1) that says what changes mean; unset is none"
    )
    advise_model: str | None = Field(None, max_length=200, description="Its model")
    advise_key: SecretStr | None = Field(None, description="Key sent to it")
    advise_pages: int = Field(10, ge=1, le=100, description="Changed pages of a crawl that it is asked about")
    advise_seconds: float = Field(10, gt=0, le=60, description="Longest time a notice waits for it")
    smtp_url: SecretStr | None = Field(None, description="smtp://user:password@host:port for mails")
    mail_from: str | None = Field(None, description="Sender of mails")
    webhook_secret: SecretStr | None = Field(None, description="whsec_… that signs webhooks")
    dashboard_url: str | None = Field(
        None, description="Address of the dashboard in notices; unset is API_URL, or where `crawler up` serves it"
    )
    product_name: str = Field("Crawler", min_length=1, max_length=60, description="Prefix of mail subjects")
    classify_task: str | None = Field(None, description="Celery task that takes classification jobs")

    # the browser
    chromium: Path | None = Field(None, description="Chromium to render with; unset looks on the PATH")
    render_tabs: int = Field(
        4, ge=1, le=16, description="Pages of a crawl rendered at once; another crawl has one more"
    )
    render_timeout_seconds: float = Field(
        30, gt=0, le=600, description="Deadline of one rendered page; at most half a lease"
    )
    render_pages: int = Field(100, ge=1, description="Pages after which a fresh browser is started")
    render_minutes: float = Field(15, gt=0, description="Minutes likewise")
    render_memory_mb: int = Field(2048, ge=256, description="Memory of a browser likewise")

    failpoint: str = Field("", description="For tests: where to die, as kill -9 would")
    log_level: str = Field("info", pattern="^(debug|info|warning|error)$", description="Least level logged")
    pulse_file: Path | None = Field(
        None, description="File that a worker touches each time it has announced itself, for health checks"
    )
    log_json: bool = Field(default=False, description="Logs as JSON lines instead of text")

    @field_validator("egress_allow", "cors_origins", "trusted_proxies", mode="before")
    @classmethod
    def _split_commas(cls, value: object) -> object:
        return tuple(p.strip() for p in value.split(",") if p.strip()) if isinstance(value, str) else value

    @field_validator("egress_allow")
    @classmethod
    def _is_egress(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        try:
            EgressRule.parse(value)
        except SettingsError as exc:
            raise ValueError(exc.message) from exc
        return value

    @field_validator("trusted_proxies")
    @classmethod
    def _is_network(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for network in value:
            ip_network(network)
        return value

    @field_validator("cors_origins")
    @classmethod
    def _is_origin(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not all(re.fullmatch(r"https?://[^/\s*]+", origin) for origin in value):
            raise ValueError("must look like https://my.site,https://other.site:8443")
        return value

    @field_validator("data_dir", "ca_bundle", "chromium", "pulse_file")
    @classmethod
    def _expand(cls, value: Path | None) -> Path | None:
        try:
            return value.expanduser().absolute() if value else value
        except RuntimeError as exc:
            raise ValueError("there is no such home directory; name an absolute path") from exc

    @field_validator("flower_basic_auth")
    @classmethod
    def _is_login(cls, value: SecretStr | None) -> SecretStr | None:
        if value and not re.fullmatch(r"[^:\s]+:\S+", value.get_secret_value()):
            raise ValueError("must look like user:password")
        return value

    @field_validator("proxy_url")
    @classmethod
    def _is_proxy(cls, value: SecretStr | None) -> SecretStr | None:
        if value and not re.match(r"^(https?|socks5h?)://[^/\s]+", value.get_secret_value()):
            raise ValueError("must look like http://user:password@host:3128")
        return value

    @field_validator("database_url")
    @classmethod
    def _is_postgres(cls, value: SecretStr | None) -> SecretStr | None:
        if value is None:
            return None
        url = postgres_url(value.get_secret_value())
        from sqlalchemy import make_url  # noqa: PLC0415 - a third of a second, before a crawl's first request
        from sqlalchemy.exc import ArgumentError  # noqa: PLC0415

        try:
            make_url(url)
        except (ArgumentError, ValueError) as exc:
            raise ValueError(POSTGRES_EXAMPLE) from exc
        return SecretStr(url)

    @field_validator("redis_url")
    @classmethod
    def _is_redis(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None:
            _check_redis_url(value.get_secret_value(), databases=3)
        return value

    @field_validator("frontier_urls")
    @classmethod
    def _are_redis(cls, value: SecretStr | None) -> SecretStr | None:
        urls = several_urls(value.get_secret_value()) if value else ()
        for url in urls:
            _check_redis_url(url)
        if len(set(urls)) < len(urls):
            raise ValueError("it must name each server once")
        return value

    @field_validator("broker_url")
    @classmethod
    def _is_broker(cls, value: SecretStr | None) -> SecretStr | None:
        known = {"redis", "rediss", "redis+socket", "amqp", "amqps", "pyamqp", "sentinel"}
        schemes = {url.strip().partition("://")[0] for url in value.get_secret_value().split(";")} if value else set()
        if not schemes <= known or len(schemes) > 1:
            raise ValueError(
                "must look like redis://host:6379/1 or amqp://user:password@host//, or amqp://…;amqp://… for several"
            )
        return value

    @field_validator("snapshot_url")
    @classmethod
    def _is_object_storage(cls, value: str | None) -> str | None:
        if value and not is_object_storage(value):
            raise ValueError(OBJECTS_EXAMPLE)
        return value

    @field_validator("embed_url")
    @classmethod
    def _is_embedder(cls, value: str | None) -> str | None:
        if value and value != "local" and not re.fullmatch(r"https?://[^/\s@]+(/\S*)?", value):
            raise ValueError("must look like https://host/v1, without a user or password, or be 'local'")
        return value.rstrip("/") if value else value

    @field_validator("advise_url")
    @classmethod
    def _is_adviser(cls, value: str | None) -> str | None:
        if value and not re.fullmatch(r"https?://[^/\s@]+(/\S*)?", value):
            raise ValueError("must look like https://host/v1, without a user or password")
        return value.rstrip("/") if value else value

    @model_validator(mode="after")
    def _advises_wholly(self) -> Self:
        if self.advise_url and not self.advise_model:
            raise ValueError("CRAWLER_ADVISE_URL also needs CRAWLER_ADVISE_MODEL")
        return self

    @model_validator(mode="after")
    def _embeds_wholly(self) -> Self:
        if self.embed_url and not (self.embed_model and self.embed_dimension):
            raise ValueError("CRAWLER_EMBED_URL also needs CRAWLER_EMBED_MODEL and CRAWLER_EMBED_DIMENSION")
        return self

    @model_validator(mode="after")
    def _copies_queues_of_a_cluster(self) -> Self:
        if self.broker_queue_type == "quorum" and not (self.broker_url and self.uses_rabbitmq):
            raise ValueError("CRAWLER_BROKER_QUEUE_TYPE=quorum needs CRAWLER_BROKER_URL=amqp://…")
        return self

    @model_validator(mode="after")
    def _lease_outlives_request(self) -> Self:
        if self.lease_seconds < 2 * self.http_timeout_seconds:
            raise ValueError("CRAWLER_LEASE_SECONDS must be at least twice CRAWLER_HTTP_TIMEOUT_SECONDS")
        return self

    @cached_property
    def broker(self) -> str:
        return self.broker_url.get_secret_value() if self.broker_url else self.results

    @property
    def uses_rabbitmq(self) -> bool:
        return self.broker.startswith(("amqp", "pyamqp"))

    @cached_property
    def results(self) -> str:
        """The URL of Celery's result backend."""
        return celery_url(self.redis_database(1))

    @property
    def sentinels(self) -> SentinelUrl | None:
        """The sentinels that know which Redis server to use, if there are several."""
        return SentinelUrl.read(self.redis_database(0))

    @cached_property
    def frontier_servers(self) -> tuple[str, ...]:
        """The Redis servers that share the frontier; none if it is where everything else is."""
        return several_urls(self.frontier_urls.get_secret_value()) if self.frontier_urls else ()

    def redis_database(self, offset: int) -> str:
        """The URL of a Redis database: the frontier uses database n of REDIS_URL, the broker n+1, RedBeat n+2."""
        if self.redis_url is None:
            raise SettingsError("CRAWLER_REDIS_URL is not set and no embedded server was started.")
        return redis_database(self.redis_url.get_secret_value(), offset)


def _check_redis_url(url: str, databases: int = 1) -> None:
    from redis import Redis  # noqa: PLC0415 - as above

    try:
        if SentinelUrl.read(url) is None:
            Redis.from_url(redis_database(url, databases - 1)).close()
    except (ValueError, TypeError) as exc:
        raise ValueError(REDIS_EXAMPLE) from exc
    if not has_redis_server(url):
        raise ValueError(REDIS_EXAMPLE)


def load_settings(**overrides: object) -> Settings:
    """The settings of this process, or an error of one sentence that names the wrong variable."""
    try:
        return Settings(_secrets_dir=_secrets_dir(), **overrides)  # type: ignore[arg-type]
    except ValidationError as exc:
        raise SettingsError(_sentence(exc)) from exc


def _secrets_dir() -> Path | None:
    """The directory of secrets, if it is there: `docker run` of one container has none."""
    named = os.environ.get(f"{PREFIX}SECRETS_DIR")
    return Path(named) if named and Path(named).is_dir() else None


_IN_PLAIN_WORDS = {
    "int_parsing": "it must be a whole number",
    "float_parsing": "it must be a number",
    "bool_parsing": "it must be true or false",
}


def _sentence(exc: ValidationError) -> str:
    first = exc.errors()[0]
    name = PREFIX + str(first["loc"][0]).upper() if first["loc"] else "The settings"
    said = first["msg"].removeprefix("Value error, ").replace("Input should be", "it must be")
    problem = _IN_PLAIN_WORDS.get(first["type"], said)
    return f"{name} is not valid: {problem}." if first["loc"] else f"{problem}."
