"""Serves agents on standard input and output, through the service that CRAWLER_API_URL names, or `crawler up` here."""

from crawler.config import load_settings
from crawler.entrypoints.cli.backend.remote import key_for
from crawler.entrypoints.cli.error_exit import quiet_logs
from crawler.entrypoints.mcp.over_stdio import serve_stdio


def serve() -> None:
    quiet_logs()
    settings = load_settings()
    address = settings.api_url or f"http://127.0.0.1:{settings.api_port}"
    serve_stdio(address, key_for(settings.model_copy(update={"api_url": address})))
