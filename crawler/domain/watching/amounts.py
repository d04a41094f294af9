"""Numbers and prices as people write them: which sign groups digits, which begins the cents, and what currency it is.

A price is read where it is the only one. What could be read in two ways is a text: the sentence says why.
"""

import re
import unicodedata
from decimal import Decimal
from typing import NamedTuple

LONGEST = 2_000
"""Characters in which a value is looked for. What is longer is no value, but a part of a page."""
MOST_DIGITS = 30
_SAME = str.maketrans({"’": "'", "ʼ": "'", "٫": ".", "٬": ",", "−": "-", "–": "-", "—": "-"})
_CODES = (
    "AED ALL AMD ARS AUD AZN BAM BDT BGN BHD BOB BRL BYN CAD CHF CLP CNY COP CRC CZK DKK DOP DZD EGP EUR GBP GEL GTQ "
    "HKD HRK HUF IDR ILS INR IQD IRR ISK JOD JPY KES KRW KWD KZT LBP LKR LYD MAD MDL MKD MMK MXN MYR NGN NOK NPR NZD "
    "OMR PEN PHP PKR PLN PYG QAR RON RSD RUB SAR SEK SGD THB TND TRY TWD UAH USD UYU UZS VND ZAR"
)
_THREE_DECIMALS = frozenset({"KWD", "BHD", "OMR", "JOD", "TND", "IQD", "LYD"})
_WORDS = r"kr|zł|Kč|Ft|lei|лв|руб|грн|дин|ден|SFr|Fr|TL|Rp|RM|Rs|din|S/|euros?"
_SIGNS = r"(?:US|CA|AU|NZ|HK|NT|Mex|[RASC])?\$|[€£¥₹₩₽₺₴₪₫₱₡₦₲₵₸₼₾฿¢]|元|円|圓|원"
_CURRENCY = rf"(?:{_SIGNS}|(?<!\w)(?:{'|'.join(_CODES.split())}|{_WORDS})(?!\w)\.?)"
_FURTHER = r"(?:\d|[.,'](?=\d)| (?=\d{3}(?!\d)))"
_AMOUNT = rf"(?<![\d.,'])(?<![^\W\d_])-?\d{_FURTHER}*(?!{_FURTHER})"
_CENTS = r"(?:[.,]-{1,2})?"
_PRICE = re.compile(rf"(?P<before>{_CURRENCY})?\s?(?P<amount>{_AMOUNT}){_CENTS}\s?+(?P<after>{_CURRENCY})?(?!%)")
_NUMBER = re.compile(_AMOUNT)
_RANGE = re.compile(r"\d ?- ?\d")
_GROUPS = {sign: re.compile(rf"\d{{1,3}}(?:[{sign}]\d{{2,3}})*[{sign}]\d{{3}}") for sign in (".", ",", "'", " ")}
_FREE_WORDS = "free gratis kostenlos gratuit gratuito gratuita grátis ilmainen darmowy zdarma бесплатно 無料 免费 무료"
_FREE = frozenset(_FREE_WORDS.split())
# What a sign may stand for, where it is more than one currency.
_STANDS_FOR = {
    "€": {"EUR"}, "EURO": {"EUR"}, "EUROS": {"EUR"}, "£": {"GBP", "EGP", "LBP"}, "₹": {"INR"},
    "RS": {"INR", "PKR", "LKR", "NPR"},
    "¥": {"JPY", "CNY"}, "円": {"JPY"}, "元": {"CNY", "TWD", "HKD"}, "圓": {"TWD", "HKD"}, "₩": {"KRW"}, "원": {"KRW"},
    "₽": {"RUB"}, "РУБ": {"RUB"}, "₺": {"TRY"}, "TL": {"TRY"}, "₴": {"UAH"}, "ГРН": {"UAH"}, "₪": {"ILS"}, "₫": {"VND"},
    "₱": {"PHP"}, "฿": {"THB"}, "KR": {"SEK", "NOK", "DKK", "ISK"}, "ZŁ": {"PLN"}, "KČ": {"CZK"}, "FT": {"HUF"},
    "LEI": {"RON", "MDL"}, "ЛВ": {"BGN"}, "FR": {"CHF"}, "SFR": {"CHF"}, "RP": {"IDR"}, "RM": {"MYR"}, "S/": {"PEN"},
    "$": {"USD", "CAD", "AUD", "NZD", "HKD", "TWD", "SGD", "MXN", "ARS", "CLP", "COP", "UYU", "DOP"},
    "US$": {"USD"}, "CA$": {"CAD"}, "C$": {"CAD"}, "AU$": {"AUD"}, "A$": {"AUD"}, "NZ$": {"NZD"}, "HK$": {"HKD"},
    "NT$": {"TWD"}, "S$": {"SGD"}, "R$": {"BRL"}, "MEX$": {"MXN"},
}  # fmt: skip


class Amount(NamedTuple):
    number: Decimal
    currency: str | None = None
    """As it is written; None where none is."""

    def same_currency(self, other: "Amount") -> bool:
        """Whether both may be in one currency: `€` and `EUR`, `$` and `CAD`. One that is not written may be any."""
        mine, others = _codes(self.currency), _codes(other.currency)
        return not mine or not others or bool(mine & others)

    @property
    def shown(self) -> str:
        places = max(0, -int(self.number.as_tuple().exponent))
        if self.currency:
            places = max(2, places) if places else 0
        elif not self.number % 1:
            places = 0
        written = f"{self.number:,.{places}f}"
        return f"{written} {self.currency}" if self.currency else written


def read_price(text: str) -> Amount | str:
    """The one price that a text names, or a sentence that says why there is none."""
    line = _line(text)
    if line.strip(" .!").lower() in _FREE:
        return Amount(Decimal(0))
    if len(text) > LONGEST:
        return "it is too long for a price"
    if _RANGE.search(line):
        return "it names more than one price"
    found = [(match["amount"], match["before"] or match["after"]) for match in _PRICE.finditer(line)]
    named = [one for one in found if one[1]] or found
    amounts: dict[Decimal, Amount] = {}
    for written, currency in named:
        number = _number(written, "." if (currency or "").upper() in _THREE_DECIMALS else None)
        if number is None:
            return "its digits are grouped as no number is"
        amounts.setdefault(number, Amount(number, currency.rstrip(".") if currency else None))
    if not amounts:
        return "it names no price"
    return next(iter(amounts.values())) if len(amounts) == 1 else "it names more than one price"


def read_number(text: str, decimal: str | None = None) -> Decimal | str:
    """The one number of a text, or a sentence. `decimal`: the sign that begins its decimals, where that is known."""
    if len(text) > LONGEST:
        return "it is too long for a number"
    found = {_number(written, decimal) for written in _NUMBER.findall(_line(text))}
    if None in found:
        return "its digits are grouped as no number is"
    numbers = [number for number in found if number is not None]
    if not numbers:
        return "it names no number"
    return numbers[0] if len(numbers) == 1 else "it names more than one number"


def _line(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text[: LONGEST + 1]).translate(_SAME).split())


def _number(written: str, decimal: str | None = None) -> Decimal | None:
    """A number by its separators. None if they stand where no number has them."""
    sign, digits = ("-", written[1:]) if written.startswith("-") else ("", written)
    if sum(map(str.isdigit, digits)) > MOST_DIGITS:
        return None
    begins = decimal if decimal and digits.count(decimal) <= 1 else _decimal_sign(digits)
    whole, _, part = digits.partition(begins) if begins else (digits, "", "")
    if not _is_grouped(whole) or not (part.isdigit() or not part):
        return None
    joined = "".join(filter(str.isdigit, whole))
    return Decimal(f"{sign}{joined}.{part}" if part else f"{sign}{joined}")


def _decimal_sign(digits: str) -> str | None:
    """Which sign begins the decimals, by how it stands there."""
    last = max(".,", key=digits.rfind)
    if digits.count(last) != 1:
        return None
    whole, _, part = digits.partition(last)
    if len(part) == 3 and whole.isdigit() and len(whole) <= 3 and whole.lstrip("0"):
        return None  # 1.299: thousands
    return last


def _is_grouped(whole: str) -> bool:
    signs = {sign for sign in whole if not sign.isdigit()}
    if not signs:
        return bool(whole)
    return len(signs) == 1 and bool(_GROUPS[signs.pop()].fullmatch(whole))


def _codes(currency: str | None) -> set[str]:
    written = (currency or "").upper()
    return _STANDS_FOR.get(written, {written}) if written else set()
