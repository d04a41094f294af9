"""`crawler up` names all busy ports at once."""

import socket

import pytest

from crawler.entrypoints.cli.actions.up import _check_ports
from crawler.errors import Conflict


def test_all_busy_ports_are_told_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        ports = [taken.getsockname()[1] for taken in (one, two)]
        with pytest.raises(Conflict) as refused:
            _check_ports("127.0.0.1", ports[0], "127.0.0.1", ports[1])
    assert all(f"127.0.0.1:{port}" in refused.value.message for port in ports)
    assert "CRAWLER_API_PORT" in refused.value.message
    assert "CRAWLER_FLOWER_PORT" in refused.value.message
