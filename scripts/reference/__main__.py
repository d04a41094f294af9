"""Generates the tables of docs/reference from the code: `make reference` writes them, a test compares them."""

import sys

from scripts.reference import made_anew, pages
from scripts.reference.text import ROOT

for page in pages():
    text = page.read_text()
    if made_anew(text) != text:
        page.write_text(made_anew(text))
        sys.stdout.write(f"{page.relative_to(ROOT)}\n")
