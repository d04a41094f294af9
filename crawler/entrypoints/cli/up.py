"""`crawler up`: the whole system, until Ctrl-C."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from crawler.bootstrap import App
from crawler.domain.api_keys import ApiKey, Scope
from crawler.entrypoints.cli.session import session
from crawler.entrypoints.stack import all_processes, check_port_free
from crawler.errors import Conflict
from crawler.supervisor import Supervisor, TerminalOutput

KEY_FILE = "api-key"


def up(
    host: Annotated[str | None, typer.Option(help="Address to bind; default CRAWLER_API_HOST, loopback.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to bind; default CRAWLER_API_PORT.")] = None,
) -> None:
    """Run service, workers, schedules and Flower until Ctrl-C."""
    with session() as tools:
        settings = tools.settings
        address, number = host or settings.api_host, settings.api_port if port is None else port
        check_port_free(address, number, "CRAWLER_API_PORT")
        check_port_free("127.0.0.1", settings.flower_port, "CRAWLER_FLOWER_PORT")
        if number == settings.flower_port:
            raise Conflict(f"The service and Flower cannot both use port {number}; set CRAWLER_FLOWER_PORT.")
        tools.hints.ping()
        key_file = ensure_key(tools)
        console = Console(stderr=True, highlight=False)
        console.print(f"Service on http://{address}:{number}, Flower on http://127.0.0.1:{settings.flower_port}")
        console.print(f"API key in {key_file}. Ctrl-C stops everything.")
        processes = all_processes(settings, address, number)
        supervisor = Supervisor(processes, TerminalOutput(p.name for p in processes))
        status = supervisor.run_forever(lambda: _restart_servers(tools))
    raise typer.Exit(status)


def _restart_servers(tools: App) -> None:
    """An embedded server that was killed comes back; the workers wait for it."""
    if tools.embedded is not None:
        tools.embedded.ensure_running()


def ensure_key(tools: App) -> Path:
    """A key always exists: the first start makes one, readable by this user alone."""
    path = tools.data_dir / KEY_FILE
    if path.exists() and tools.store.find_key(path.read_text().strip()):
        return path
    key, secret = ApiKey.issue(name="local", scope=Scope.ADMIN, now=tools.clock())
    path.touch(mode=0o600, exist_ok=True)
    path.chmod(0o600)
    path.write_text(secret + "\n")
    tools.store.add_key(key)
    return path
