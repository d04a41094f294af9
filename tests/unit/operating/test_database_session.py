"""What a connection asks of the server, read from the first bytes it sends."""

import socket
from threading import Thread

import pytest

from crawler.adapters.postgres.database import connect


@pytest.fixture
def greeting() -> bytes:
    """The startup packet, as a server sees it that hangs up then."""
    got = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            caller, _ = server.accept()
            with caller:
                got.append(caller.recv(4096))

        listener = Thread(target=listen)
        listener.start()
        port = server.getsockname()[1]
        engine = connect(f"postgresql+psycopg2://me@127.0.0.1:{port}/x?sslmode=disable&gssencmode=disable")
        with pytest.raises(Exception, match="closed the connection"), engine.connect():
            pass
        listener.join()
    return got[0]


def test_the_server_gives_up_a_machine_without_power(greeting: bytes) -> None:
    """Otherwise the rows that it was writing stay locked, longer than its leases last."""
    for wanted in (b"keepalives_idle=10", b"keepalives_interval=5", b"keepalives_count=4", b"user_timeout=30000"):
        assert b"-c tcp_" + wanted in greeting
