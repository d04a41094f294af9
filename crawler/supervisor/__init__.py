"""Process supervisor: starts processes, restarts those that die, stops them all, leaves none behind."""

from crawler.supervisor.backoff import Backoff
from crawler.supervisor.child import ProcessSpec, ProcessState
from crawler.supervisor.output import FileOutput, Output, TerminalOutput
from crawler.supervisor.supervisor import Supervisor

__all__ = ["Backoff", "FileOutput", "Output", "ProcessSpec", "ProcessState", "Supervisor", "TerminalOutput"]
