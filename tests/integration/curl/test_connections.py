"""Cutting a connection of libcurl's by its two ends."""

import os
import socket

import pytest

from crawler.adapters.curl.connections import Connections, Ends


def connection() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        return ours, listener.accept()[0]


def test_what_has_arrived_on_a_cut_connection_is_never_read_and_others_stay_as_they_are() -> None:
    connections = Connections()
    (ours, theirs), (other, others_peer) = connection(), connection()
    with ours, theirs, other, others_peer:
        for one in (other, ours):
            connections.opened(one.fileno())
        for peer in (theirs, others_peer):
            peer.sendall(b"arrived")
        connections.cut(Ends(*ours.getpeername(), *ours.getsockname()))
        with pytest.raises(OSError, match="not connected"):
            ours.recv(100)
        assert other.recv(100) == b"arrived"


def test_numbers_that_are_something_else_by_now_are_passed_over() -> None:
    connections = Connections()
    ours, theirs = connection()
    one, two = socket.socketpair()
    reading, writing = os.pipe()
    with ours, theirs, one, two, socket.socket() as unconnected:
        for number in (one.fileno(), reading, unconnected.fileno(), 10**6, ours.fileno()):
            connections.opened(number)
        connections.cut(Ends(*ours.getpeername(), *ours.getsockname()))
        with pytest.raises(OSError, match="not connected"):
            ours.recv(100)
        two.sendall(b"still there")
        assert one.recv(100) == b"still there"
    os.close(reading)
    os.close(writing)
