"""Sentences on a terminal: broken between words, never inside a command, which is copied whole."""

import re
import shutil
import textwrap

_COMMAND = re.compile(r"'crawler (?:[^']|'[^' ][^']*' )+'").sub
_JOINT = "\0"
"""Stands for the blanks of a command, at which no line is broken."""
_NARROWEST = 20


def in_lines(sentence: str, *, is_terminal: bool) -> str:
    """One line into a file or a pipe: programs read it."""
    if not is_terminal:
        return sentence
    columns = shutil.get_terminal_size().columns
    whole = _COMMAND(lambda found: found[0].replace(" ", _JOINT), sentence)
    filled = textwrap.fill(whole, max(columns, _NARROWEST), break_long_words=False, break_on_hyphens=False)
    return filled.replace(_JOINT, " ")
