"""Process supervisor: starts processes, restarts those that die, stops them all, leaves none behind."""

from crawler.supervisor.backoff import Backoff
from crawler.supervisor.child import SOCKET, ProcessSpec, ProcessState
from crawler.supervisor.output import FileOutput, Output, TerminalOutput
from crawler.supervisor.supervisor import Supervisor
from crawler.supervisor.troubles import Troubles, read_troubles

__all__ = [
    "SOCKET",
    "Backoff",
    "FileOutput",
    "Output",
    "ProcessSpec",
    "ProcessState",
    "Supervisor",
    "TerminalOutput",
    "Troubles",
    "read_troubles",
]
