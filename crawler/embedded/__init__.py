"""A real Postgres and a real Valkey from wheels, when no other servers are configured.

They belong to a data directory, not to a process: the first that needs them starts them, everyone on
that directory shares them, the last one that is done stops them. Killing any of these processes loses
nothing: the next start takes over what still runs and restarts what does not.

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
