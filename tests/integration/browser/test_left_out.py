"""The render image leaves out packages that crawl4ai names and the browser lane never imports."""

import subprocess
import sys
from pathlib import Path

import pytest

from deploy.image.trim import UNUSED

MODULES = {"rtree": "rtree", "unclecode-litellm": "litellm"}
# Imports all that a visit needs, with the packages out of reach.
LANE = """
import sys
for name in sys.argv[1:]:
    sys.modules[name] = None
import crawler.adapters.browser.tab_pool
import crawler.adapters.browser.crawl4ai_drive as drive
drive._browser_config(), drive._run_config(1000)
"""


@pytest.mark.slow
def test_the_lane_does_without_them(tmp_path: Path, crawl4ai: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAWL4_AI_BASE_DIRECTORY", str(tmp_path))
    names = [MODULES.get(name, name.replace("-", "_")) for name in sorted(UNUSED)]
    done = subprocess.run([sys.executable, "-c", LANE, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
