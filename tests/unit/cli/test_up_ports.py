"""`crawler up` names all busy ports at once, and evades one that nobody chose."""

import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from crawler.bootstrap import servers
from crawler.config import Settings, load_settings
from crawler.entrypoints.cli.actions.up import _check_ports, with_free_monitor_port
from crawler.errors import Conflict


def test_all_busy_ports_are_told_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        ports = [taken.getsockname()[1] for taken in (one, two)]
        with pytest.raises(Conflict) as refused:
            _check_ports("127.0.0.1", ports[0], "127.0.0.1", ports[1])
    assert all(f"127.0.0.1:{port}" in refused.value.message for port in ports)
    assert "CRAWLER_API_PORT" in refused.value.message
    assert "CRAWLER_FLOWER_PORT" in refused.value.message


def test_a_monitor_whose_port_is_in_use_gets_a_free_one_unless_somebody_chose_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        by_default = Settings.model_construct(set(), flower_host="127.0.0.1", flower_port=port)
        settings = with_free_monitor_port(by_default, 1)
        assert settings.flower_port not in {port, 0}
        told = f"Port {port} is in use, so the tasks' monitor (Flower) is at port {settings.flower_port} this time."
        assert told in capsys.readouterr().err
        chosen = load_settings(flower_port=port)
        assert with_free_monitor_port(chosen, 1) == chosen
        with pytest.raises(Conflict):
            _check_ports("127.0.0.1", port, chosen.flower_host, chosen.flower_port)


def test_a_monitor_leaves_its_port_to_the_service() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    by_default = Settings.model_construct(set(), flower_host="127.0.0.1", flower_port=port)
    assert with_free_monitor_port(by_default, 1) == by_default
    assert with_free_monitor_port(by_default, port).flower_port != port


def test_settings_of_embedded_servers_still_know_what_somebody_chose(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("DATABASE_URL", "REDIS_URL", "FLOWER_PORT", "API_PORT"):
        monkeypatch.delenv(f"CRAWLER_{name}", raising=False)
    urls = SimpleNamespace(database_url="postgresql://h/d", redis_url="redis://h/0")
    started = SimpleNamespace(ensure_running=lambda: urls)
    monkeypatch.setattr(servers, "EmbeddedServers", lambda _: started)
    settings, _ = servers.with_servers(load_settings(data_dir=tmp_path, api_port=8921))
    assert (settings.api_port, settings.data_dir) == (8921, tmp_path)
    assert "api_port" in settings.model_fields_set
    assert "flower_port" not in settings.model_fields_set
