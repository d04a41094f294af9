"""Serves agents on standard input and output, through the service that CRAWLER_API_URL names, or `crawler up` here."""

from importlib.util import find_spec

from crawler.config import load_settings
from crawler.entrypoints.cli.backend.remote import key_for
from crawler.entrypoints.cli.error_exit import quiet_logs
from crawler.errors import SettingsError


def serve() -> None:
    quiet_logs()
    if find_spec("mcp") is None:
        raise SettingsError("This needs the package mcp: install the extra 'mcp'.")
    from crawler.entrypoints.mcp.over_stdio import serve_stdio  # noqa: PLC0415 - an extra that may not be there

    settings = load_settings()
    address = settings.api_url or f"http://127.0.0.1:{settings.api_port}"
    serve_stdio(address, key_for(settings.model_copy(update={"api_url": address})))
