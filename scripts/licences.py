"""Print the licence of every package in this environment: a list first, then the texts that come with the packages.

Run by `make dist`, with the Python of an environment that holds what is delivered and nothing else.
"""

import re
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageMetadata, distributions

_NAMES_A_TEXT = re.compile(r"(^|/)(licen[cs]es?|copying|notice|authors)([^/]*$|/)", re.IGNORECASE)
_CLASSIFIER = "License :: "
UNKNOWN = "not named"


def licence(metadata: PackageMetadata) -> str:
    """What the package says of itself: an SPDX expression, else classifiers, else a free text's first line."""
    if expression := metadata.get_all("License-Expression"):
        return str(expression[0])
    named = [value.rpartition(" :: ")[2] for value in metadata.get_all("Classifier") or () if _CLASSIFIER in value]
    if exact := [name for name in named if name != "OSI Approved"]:
        return " OR ".join(exact)
    free = metadata.get_all("License") or [""]
    return str(free[0]).strip().partition("\n")[0] or UNKNOWN


def texts(distribution: Distribution) -> dict[str, str]:
    """Files with a licence's text, by their names."""
    found = {}
    for file in distribution.files or ():
        if ".dist-info/" in str(file) and _NAMES_A_TEXT.search(str(file).partition(".dist-info/")[2]):
            found[file.name] = file.locate().read_text("utf-8", errors="replace").strip()  # type: ignore[attr-defined]
    return found


def report(packages: Iterable[Distribution]) -> str:
    by_name = {package.metadata["Name"].lower(): package for package in packages}
    ordered = [by_name[name] for name in sorted(by_name)]
    lines = [f"{package.metadata['Name']} {package.version}: {licence(package.metadata)}" for package in ordered]
    parts = [
        f"{'=' * 80}\n{package.metadata['Name']} {package.version}, {name}\n{'=' * 80}\n\n{text}"
        for package in ordered
        for name, text in texts(package).items()
    ]
    return "\n".join(lines) + "\n\n" + "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.stdout.write(report(distributions()))
