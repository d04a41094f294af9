"""Embedded Postgres and Valkey (Redis) from Python wheels, for when no servers are configured.

They belong to a data directory, not to a process. The first process that needs them starts them, all processes on that
directory share them, and the last one stops them. Killing any of these processes loses nothing: the next start takes
over the servers that still run and restarts the others.

::

    data_dir/
    ├── .crawler-data      marks the directory as ours
    ├── servers/           lock (starting and stopping), users (held shared by every user),
    │                      postgres.lock, valkey.lock (held by the servers themselves), state.json
    ├── postgres/          the cluster
    ├── valkey/            the append-only file
    ├── run/               unix sockets, the only way in; elsewhere if the path does not suit one
    └── logs/
"""

from crawler.embedded.data_dir import prepare_data_dir
from crawler.embedded.servers import EmbeddedServers, Servers, ensure_running

__all__ = ["EmbeddedServers", "Servers", "ensure_running", "prepare_data_dir"]
