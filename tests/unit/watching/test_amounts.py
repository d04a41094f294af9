"""Numbers and prices as people write them in many places."""

from decimal import Decimal

import pytest

from crawler.domain.watching.amounts import LONGEST, Amount, read_number, read_price


@pytest.mark.parametrize(
    ("written", "amount", "currency"),
    [
        ("1.299,00 €", "1299.00", "€"),
        ("$1,299", "1299", "$"),
        ("1 299 kr", "1299", "kr"),
        ("1\u202f299,50 €", "1299.50", "€"),
        ("￥1,299", "1299", "¥"),
        ("CHF 1'299.-", "1299", "CHF"),
        ("CHF 1’299.50", "1299.50", "CHF"),
        ("£0.99", "0.99", "£"),
        ("12,5 EUR", "12.5", "EUR"),
        ("1,29,900.00 ₹", "129900.00", "₹"),
        ("R$ 1.299,90", "1299.90", "R$"),
        ("US$1,299.00", "1299.00", "US$"),
        ("1299,– €", "1299", "€"),
        ("１，２９９円", "1299", "円"),
        ("١٬٢٩٩٫٥٠ €", "1299.50", "€"),
        ("KWD 1.299", "1.299", "KWD"),
        ("0.299 €", "0.299", "€"),
        ("2 × 500 g 3,99 €", "3.99", "€"),
        ("Save 20 %: 99.00 €", "99.00", "€"),
        ("from 1.299 zł", "1299", "zł"),
        ("1299.00", "1299.00", None),
        ("99,00 € 99,00 €", "99.00", "€"),
        ("-5,00 €", "-5.00", "€"),
        ("Free", "0", None),
        ("kostenlos!", "0", None),
    ],
)
def test_prices_are_read(written: str, amount: str, currency: str | None) -> None:
    assert read_price(written) == Amount(Decimal(amount), currency)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "on request",
        "20 % off",
        "1,299 %",
        "99 – 119 €",
        "1.2.3 €",
        "€",
        "12 34 56",
        "99 € 119 €",
        "9" * 500 + " €",
        "x" * LONGEST + " 9 €",
    ],
)
def test_what_is_no_single_price_is_none_and_says_why(written: str) -> None:
    found = read_price(written)
    assert isinstance(found, str)
    assert found


@pytest.mark.parametrize(
    ("written", "decimal", "number"),
    [
        ("4.125", None, "4125"),
        ("4.125", ".", "4.125"),
        ("4.125", ",", "4125"),
        ("4,5 stars", None, "4.5"),
        ("1 204 views", None, "1204"),
        ("−3", None, "-3"),
        ("about 12.5 %", None, "12.5"),
    ],
)
def test_numbers_are_read_by_the_separator_that_is_said(written: str, decimal: str | None, number: str) -> None:
    assert read_number(written, decimal) == Decimal(number)


def test_several_numbers_are_none() -> None:
    assert isinstance(read_number("3 of 5"), str)


def test_currencies_are_alike_as_sign_and_as_code() -> None:
    def in_currency(currency: str | None, amount: str = "1") -> Amount:
        return Amount(Decimal(amount), currency)

    assert in_currency("€").same_currency(in_currency("EUR"))
    assert in_currency("$").same_currency(in_currency("CAD"))
    assert in_currency("kr").same_currency(in_currency("NOK"))
    assert in_currency(None).same_currency(in_currency("EUR"))
    assert not in_currency("€").same_currency(in_currency("$"))
    assert not in_currency("USD").same_currency(in_currency("CAD"))


def test_amounts_are_shown_in_one_way() -> None:
    assert Amount(Decimal("1299.5"), "€").shown == "1,299.50 €"
    assert Amount(Decimal(1299), "kr").shown == "1,299 kr"
    assert Amount(Decimal("1.299"), "KWD").shown == "1.299 KWD"
    assert Amount(Decimal(0), None).shown == "0"
