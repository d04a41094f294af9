"""Chromium's command line flags: use only our proxy, no background requests, low memory.

What the proxy lets through: `egress_proxy.py`.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from crawler import telemetry

log = telemetry.logger(__name__)

# Without the first of these Chromium bypasses the proxy for 127.0.0.1, localhost and 169.254.0.0/16.
LOOPBACK_TOO = "--proxy-bypass-list=<-loopback>"
INSIDE_THE_PROXY = (
    LOOPBACK_TOO,
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",  # no DNS lookups of its own either
    "--disable-quic",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--dns-prefetch-disable",
)
QUIET = (
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-client-side-phishing-detection",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--disable-breakpad",
    "--disable-crash-reporter",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
)
CHEAP = (
    "--headless",
    "--block-new-web-contents",  # windows a page opens: they would send requests outside of the host's turn
    "--disable-gpu",
    "--mute-audio",
    "--hide-scrollbars",
    "--disable-back-forward-cache",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    # Tabs side by side must all count as foreground tabs.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
)
# Pages of the browser's own that it shows in the frame of each window, in processes of their own. Each visit has a
# window: they took more than half of its CPU.
OWN_PAGES = (
    "InitialWebUI",
    "PreloadTopChromeWebUI",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
    "WebUIToolbar",
)
OFF = (
    "AutofillServerCommunication",
    "CertificateTransparencyComponentUpdater",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",  # the requested URL is the one to fetch
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "Prerender2",  # whole pages that were not requested
    "SpareRendererForSitePerProcess",  # a process per visit that is thrown away unused
    "Translate",
    "WebRtcHideLocalIpsWithMdns",
    *OWN_PAGES,
)
SMALL_SHARED_MEMORY = 512 * 1024 * 1024
"""Minimum size of /dev/shm. A container's usual 64 MB crash tabs; then files in the temporary directory are used."""


@dataclass(frozen=True, slots=True)
class ChromiumOptions:
    program: Path
    proxy: str
    """The proxy for everything that no visit sends through a proxy of its own."""
    tab_bytes: int = 1024 * 1024 * 1024
    more: tuple[str, ...] = ()
    nice: int = 0


def flags_for(options: ChromiumOptions, profile: Path) -> list[str]:
    return [
        *CHEAP,
        *QUIET,
        *INSIDE_THE_PROXY,
        f"--disable-features={','.join(OFF)}",
        f"--proxy-server={options.proxy}",
        "--remote-debugging-address=127.0.0.1",
        "--remote-debugging-port=0",
        f"--user-data-dir={profile}",
        f"--js-flags=--max-old-space-size={options.tab_bytes // 2**20}",
        *_of_this_machine(),
        *options.more,
        "about:blank",
    ]


def _of_this_machine() -> list[str]:
    flags = []
    if os.geteuid() == 0:
        flags.append("--no-sandbox")
    try:
        shared = os.statvfs("/dev/shm")  # noqa: S108 - Chromium's, not ours
    except OSError:
        return [*flags, "--disable-dev-shm-usage"]
    if shared.f_bavail * shared.f_frsize < SMALL_SHARED_MEMORY:
        flags.append("--disable-dev-shm-usage")
    return flags


_warned: set[str] = set()


def warn_of_root() -> None:
    """Warn about running as root, once per process."""
    if os.geteuid() == 0 and not _warned:
        _warned.add("root")
        log.warning("chromium_without_sandbox", why="this runs as root; run render workers as another user")
