"""What has to be there for a benchmark, and who its hosts are."""

import os
import shutil
from pathlib import Path

import pytest

from benchmarks import sites
from benchmarks.sites import Mount


def test_each_of_a_thousand_hosts_has_a_loopback_address_of_its_own() -> None:
    addresses = Mount("x", Path(), 1000).addresses
    assert len(set(addresses)) == 1000
    assert all(address.startswith("127.0.") and not address.endswith((".0", ".255")) for address in addresses)


def test_what_is_missing_is_told_in_one_sentence_with_the_packages_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    monkeypatch.setitem(sites.PACKAGES, "postgresql", ("postgresql-doc-15", gone))
    monkeypatch.setattr(shutil, "which", lambda program: None if program == "nginx" else f"/bin/{program}")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit) as told, sites.serve(Mount("postgresql", gone)):
        pytest.fail("nothing can be served")
    assert str(told.value).endswith("apt-get install nginx-light postgresql-doc-15")
    assert "\n" not in str(told.value)
