"""Options of `crawler run`, checked before anything is started or written."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from crawler.adapters.pages.export_files import ExportPlace
from crawler.domain.hosts.credentials import Credentials, problem_of
from crawler.domain.urls.url import Url, parse
from crawler.entrypoints.cli.input.option_names import told_in_options
from crawler.entrypoints.cli.input.secret_values import FILE_SIGN, from_environment, from_file, read_secret
from crawler.errors import Invalid, InvalidConfig, InvalidUrl
from crawler.handlers.crawls.start_crawl import valid_config
from crawler.lazy_module import on_first_use

with on_first_use():
    from crawler.domain.exports.files import ExportFormat, export_format

DEFAULT_FORMAT = "jsonl"


@dataclass(frozen=True)
class Order:
    seed: Url
    project: str
    config: Mapping[str, Any]
    urls: tuple[str, ...] = ()
    urls_file: Path | None = None
    headers: Mapping[str, str] | None = None
    export_to: ExportPlace | None = None
    formats: "tuple[ExportFormat, ...]" = ()
    named_by_url: bool = False
    """Nobody gave the project a name: it is the one of the URL."""

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
        return opened_for(self.seed)


def opened_for(url: Url) -> tuple[str, int]:
    port = url.host.removeprefix(url.hostname).removeprefix(":")
    return url.hostname, int(port or (443 if url.scheme == "https" else 80))


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


def read_headers(given: Sequence[str], from_variables: Sequence[str] = ()) -> dict[str, str]:
    """Headers by name; one without a value is to be forgotten, as in curl.

    `given`: '@FILE' with lines 'Name: value', 'NAME' whose value is asked for, 'Name:' or 'Name: value'.
    `from_variables`: NAME=VARIABLE. No error message quotes a value: it may be a password.
    """
    headers = dict(pair for header in given for pair in _headers(header))
    headers |= dict(_from_variable(pair) for pair in from_variables)
    try:
        Credentials.model_validate({"headers": {name: value for name, value in headers.items() if value}})
    except ValidationError as exc:
        raise Invalid(f"A --header cannot be sent: {problem_of(exc)}.") from None
    return headers


def shows_value(header: str) -> bool:
    """Whether a --header holds its value, where everybody on the machine can read it."""
    return not header.startswith(FILE_SIGN) and bool(header.partition(":")[2].strip())


def _headers(header: str) -> list[tuple[str, str]]:
    if header.startswith(FILE_SIGN):
        lines = from_file(header.removeprefix(FILE_SIGN)).splitlines()
        return [_header(line) for line in lines if line.strip()]
    if ":" not in header and sys.stdin.isatty():
        return [(header.strip(), read_secret(f"Value of {header.strip()}"))]
    return [_header(header)]


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon or not name.strip():
        raise Invalid("A --header must look like 'Name: value'; @FILE reads such lines, NAME alone asks for the value.")
    return name.strip(), value.strip()


def _from_variable(pair: str) -> tuple[str, str]:
    name, sign, variable = pair.partition("=")
    if not sign or not name.strip() or not variable.strip():
        raise Invalid("A --header-env must look like NAME=VARIABLE, such as X-Key=SITE_KEY.")
    return name.strip(), from_environment(variable.strip())


def read_formats(export_to: ExportPlace | None, names: Sequence[str]) -> tuple[ExportFormat, ...]:
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
