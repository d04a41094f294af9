"""Runs the whole system (dashboard, API, workers, schedules, Flower) until Ctrl-C.

The processes are listed in `entrypoints/processes.py`, and restarted by `supervisor/supervisor.py`.
"""

import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from crawler.bootstrap import App
from crawler.config import Settings
from crawler.domain.api_keys import ApiKey, Scope
from crawler.entrypoints.cli.backend.session import session
from crawler.entrypoints.cli.error_exit import quiet_logs
from crawler.entrypoints.cli.screen.stderr import Stderr
from crawler.entrypoints.cli.screen.up_output import Announcement, Places, UpOutput, tell_addresses
from crawler.entrypoints.processes import KEY_FILE, all_processes, check_port_free, for_one_machine, is_loopback, warmed
from crawler.errors import Conflict, Invalid, Unavailable
from crawler.redaction import redact
from crawler.supervisor import ProcessSpec, ProcessState, Supervisor, Troubles


def run_stack(host: str | None, port: int | None, *, verbose: bool, no_auth: bool) -> int:
    """Returns the exit status."""
    quiet_logs()
    with session() as tools:
        settings = tools.settings.model_copy(update={"no_auth": no_auth or tools.settings.no_auth})
        address, number = host or settings.api_host, settings.api_port if port is None else port
        if settings.no_auth and not is_loopback(address):
            raise Invalid(f"Without keys anybody who reaches {address} could steer the crawler; bind 127.0.0.1.")
        settings = with_free_monitor_port(settings, number)
        monitor = (settings.flower_host, settings.flower_port)
        _check_ports(address, number, *monitor)
        tools.hints.ping()
        key_file, logs = ensure_key(tools), tools.data_dir / "logs"
        known = settings.dashboard_url or settings.api_url or _shared_url(address, number)
        told = settings.model_copy(update={"dashboard_url": known})
        processes = warmed(for_one_machine(all_processes(told, address, number)), everything=True)
        Stderr().print(f"Starting {', '.join(process.name for process in processes)} …", style="dim")
        output = UpOutput((process.name for process in processes), logs, verbose=verbose)
        service, flower = _url(address, number), _url(*monitor) + "/"
        ready = {"api": partial(_answers, address, number)}
        tools.database.dispose()  # nothing is asked of it for long, and the server keeps memory for each connection
        supervisor = Supervisor((_with_ready(process, ready, output) for process in processes), output)
        way_in = partial(_way_in, tools, service, key_file, no_auth=settings.no_auth)
        places = Places(service, flower, redact(settings.broker), key_file, logs, way_in)
        announcement = Announcement("api", partial(tell_addresses, places))
        troubles = Troubles(tools.data_dir)

        def watch(states: Sequence[ProcessState]) -> None:
            announcement(states)
            troubles(states)

        return supervisor.run_forever(lambda: _restart_servers(tools), watch)


def with_free_monitor_port(settings: Settings, taken: int) -> Settings:
    """Flower at another port, if its own is in use and nobody chose it. `taken`: the service's port."""
    host, port = settings.flower_host, settings.flower_port
    if "flower_port" in settings.model_fields_set:
        return settings
    try:
        check_port_free(host, port, "CRAWLER_FLOWER_PORT")
    except Conflict:
        is_free = False
    else:
        is_free = port != taken
    if is_free:
        return settings
    with socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        found = probe.getsockname()[1]
    told = f"Port {port} is in use, so the tasks' monitor (Flower) is at port {found} this time."
    Stderr().print(f"{told} CRAWLER_FLOWER_PORT chooses one.", style="dim", soft_wrap=True)
    return settings.model_copy(update={"flower_port": found})


def _check_ports(address: str, number: int, flower_host: str, flower_port: int) -> None:
    if number == 0:
        raise Invalid("Port 0 is no port anybody could find the service at; choose one from 1 to 65535.")
    busy = []
    flower = (flower_host, flower_port, "CRAWLER_FLOWER_PORT")
    for host, port, setting in ((address, number, "CRAWLER_API_PORT"), flower):
        try:
            check_port_free(host, port, setting)
        except Conflict as exc:
            busy.append(exc.message)
    if busy:
        raise Conflict(" ".join(busy))
    if number == flower_port:
        raise Conflict(f"The service and Flower cannot both use port {number}; set CRAWLER_FLOWER_PORT.")


def _with_ready(process: ProcessSpec, ready: Mapping[str, Callable[[], bool]], output: UpOutput) -> ProcessSpec:
    """Add a readiness check: the service is ready when it answers, workers when they log it. Others have no check."""
    if process.name in ("beat", "flower"):
        return process
    return replace(process, ready=ready.get(process.name) or partial(output.is_ready, process.name))


def _answers(address: str, number: int) -> bool:
    try:
        with socket.create_connection((_reachable(address), number), timeout=1):
            return True
    except OSError:
        return False


def _url(address: str, number: int) -> str:
    named = _reachable(address)
    return f"http://{f'[{named}]' if ':' in named else named}:{number}"


def _shared_url(address: str, number: int) -> str:
    """Where readers of mails may find the dashboard. One that listens everywhere is known by the machine's name."""
    return _url(address if _reachable(address) == address else socket.gethostname(), number)


def _reachable(address: str) -> str:
    """The address to connect to. 0.0.0.0 and :: can only be bound, so they become loopback."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)  # noqa: S104 - nothing is bound here


def _way_in(tools: App, service: str, key_file: Path, *, no_auth: bool) -> str:
    """The dashboard's URL with a sign-in ticket after the #, which browsers do not send: no server or log sees it."""
    try:
        key = None if no_auth else tools.store.find_key(key_file.read_text().strip())
        ticket = tools.operating.sessions.ticket(key.id) if key else None
    except Unavailable:  # without a ticket the user signs in with the key
        ticket = None
    finally:
        tools.database.dispose()
    return f"{service}/login#{ticket}  (signs you in, once; later the key does)" if ticket else f"{service}/"


def _restart_servers(tools: App) -> None:
    """Restart an embedded server that was killed. The workers wait for it."""
    if tools.embedded is not None:
        tools.embedded.revive()


def ensure_key(tools: App) -> Path:
    """Make an API key at the first start and store it in a file that only this user can read."""
    path = tools.data_dir / KEY_FILE
    if path.exists() and tools.store.find_key(path.read_text().strip()):
        return path
    key, secret = ApiKey.issue(name="local", scope=Scope.ADMIN, now=tools.clock())
    path.touch(mode=0o600, exist_ok=True)
    path.chmod(0o600)
    path.write_text(secret + "\n")
    tools.store.add_key(key)
    return path
