"""Numbers as programs write them: digits, and a point before the decimals."""

import re
from decimal import Decimal

_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,10})?", re.ASCII)


def machine_number(text: str) -> Decimal | None:
    return Decimal(text) if _NUMBER.fullmatch(text) else None
