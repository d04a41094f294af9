"""Runs the processes of a stack: starts them, restarts what dies, stops them all, leaves none behind."""

from crawler.supervisor.backoff import Backoff
from crawler.supervisor.child import ProcessSpec, ProcessState
from crawler.supervisor.output import FileOutput, Output, TerminalOutput
from crawler.supervisor.supervisor import Supervisor

__all__ = ["Backoff", "FileOutput", "Output", "ProcessSpec", "ProcessState", "Supervisor", "TerminalOutput"]
