"""The browser's command line."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from crawler.adapters.browser import chromium_flags
from crawler.adapters.browser.chromium_flags import ChromiumOptions, flags_for, warn_of_root

OPTIONS = ChromiumOptions(Path("/usr/bin/chromium"), "http://127.0.0.1:9")


@pytest.fixture(autouse=True)
def nobody_was_warned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium_flags, "_warned", set())


def test_root_goes_without_the_sandbox_and_is_warned_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    with capture_logs() as logs:
        for _ in range(3):
            warn_of_root()
    assert "--no-sandbox" in flags_for(OPTIONS, Path("profile"))
    assert [entry["event"] for entry in logs] == ["chromium_without_sandbox"]


def test_everybody_else_keeps_the_sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    with capture_logs() as logs:
        warn_of_root()
    flags = flags_for(OPTIONS, Path("profile"))
    assert not [flag for flag in flags if "sandbox" in flag]
    assert logs == []


@pytest.mark.parametrize(
    "flag",
    [
        "--proxy-server=http://127.0.0.1:9",
        "--proxy-bypass-list=<-loopback>",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
        "--disable-quic",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--remote-debugging-address=127.0.0.1",
        "--user-data-dir=profile",
    ],
)
def test_what_keeps_it_inside_is_there(flag: str) -> None:
    assert flag in flags_for(OPTIONS, Path("profile"))
