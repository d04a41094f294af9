"""Options of `crawler run`, checked before anything is started or written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from crawler.domain.exports.files import ExportFormat, export_format
from crawler.domain.hosts.credentials import Credentials
from crawler.domain.urls.url import Url, parse
from crawler.entrypoints.cli.input.option_names import told_in_options
from crawler.errors import Invalid, InvalidConfig, InvalidUrl
from crawler.handlers.crawls.start_crawl import valid_config

DEFAULT_FORMAT = "jsonl"


@dataclass(frozen=True)
class Order:
    seed: Url
    project: str
    config: Mapping[str, Any]
    urls: tuple[str, ...] = ()
    urls_file: Path | None = None
    headers: Mapping[str, str] | None = None
    export_to: Path | None = None
    formats: tuple[ExportFormat, ...] = ()

    @property
    def title(self) -> str:
        """What is crawled, for the heading: the URL, or the list of URLs."""
        if self.urls_file is None:
            return self.seed.href
        return f"{len(self.urls):,} {'URL' if len(self.urls) == 1 else 'URLs'} from {self.urls_file}"

    @property
    def opened(self) -> tuple[str, int]:
        """The host and port the user typed.

        It may be fetched even if its address is private; no other private address may.
        """
        port = self.seed.host.removeprefix(self.seed.hostname).removeprefix(":")
        return self.seed.hostname, int(port or (443 if self.seed.scheme == "https" else 80))


def checked_config(given: Mapping[str, Any], max_pages_ceiling: int) -> dict[str, Any]:
    config = {name: value for name, value in given.items() if value is not None}
    try:
        options = valid_config(config)
        if "max_pages" in config:
            options.within(max_pages_ceiling)
    except InvalidConfig as exc:
        raise told_in_options(exc) from exc
    return config


def read_urls(path: Path) -> tuple[str, ...]:
    """Read one URL per line, without empty lines and # comments."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as exc:
        raise Invalid(f"{path} cannot be read: {getattr(exc, 'strerror', None) or 'it is not UTF-8 text'}.") from exc
    named = [(number, line.strip()) for number, line in enumerate(lines, 1)]
    urls = tuple(_url(path, number, line) for number, line in named if line and not line.startswith("#"))
    if not urls:
        raise Invalid(f"{path} names no URL; write one a line.")
    return urls


def _url(path: Path, number: int, line: str) -> str:
    try:
        return parse(line).href
    except InvalidUrl as exc:
        raise InvalidUrl(f"Line {number} of {path} is not usable: {exc.message}") from exc


def read_headers(given: Sequence[str]) -> dict[str, str]:
    """Parse headers of the form 'Name: value'. No error message quotes a value: it may be a password."""
    headers: dict[str, str] = {}
    for header in given:
        name, colon, value = header.partition(":")
        if not colon or not name.strip():
            raise Invalid("A --header must look like 'Name: value'.")
        headers[name.strip()] = value.strip()
    credentials(headers)
    return headers


def credentials(headers: Mapping[str, str], kept: Credentials | None = None) -> Credentials:
    """Merge these headers into the project's stored ones. A header without a value is removed, as in curl."""
    named = {name.lower() for name in headers}
    before = kept.revealed() if kept else {}
    old: Any = before.get("headers") or {}
    merged = {name: value for name, value in old.items() if name.lower() not in named}
    merged |= {name: value for name, value in headers.items() if value}
    try:
        return Credentials.model_validate({**before, "headers": merged})
    except ValidationError as exc:
        first = exc.errors(include_input=False, include_url=False)[0]
        wrong = (
            first["msg"].removeprefix("Value error, ") if first["type"] == "value_error" else "its name is not valid"
        )
        raise Invalid(f"A --header cannot be sent: {wrong}.") from None


def read_formats(export_to: Path | None, names: Sequence[str]) -> tuple[ExportFormat, ...]:
    if names and export_to is None:
        raise Invalid("--format says how to export; say where with --export DIR.")
    return tuple(export_format(name) for name in dict.fromkeys(names or [DEFAULT_FORMAT])) if export_to else ()


def check_origin(seed: Url, urls: Sequence[str], headers: Mapping[str, str]) -> None:
    """Check that a list begins at the seed's origin: headers are only sent to the origin where a crawl begins."""
    first = parse(urls[0]) if urls else seed
    if headers and (first.scheme, first.host) != (seed.scheme, seed.host):
        raise Invalid(
            f"--header is sent to one origin only: begin --urls-file with a URL of {seed.scheme}://{seed.host}."
        )
