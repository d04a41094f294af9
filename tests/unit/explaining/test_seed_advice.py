"""What somebody is told whose first address could not be fetched."""

import pytest

from crawler.domain.engine.ledger import SeedState
from crawler.domain.explaining.seed_advice import seed_advice
from crawler.domain.reasons import Reason


def advice(reason: Reason | None, error: str = "", url: str = "https://x.example:8080/a") -> str:
    return seed_advice(SeedState("failed", reason, error, None, url))


def test_https_at_a_port_of_http_names_the_address_to_try() -> None:
    told = "This server does not answer in https here"
    assert advice(Reason.TLS, "SSL routines::wrong version number") == f"{told}; try http://x.example:8080/a"
    assert advice(Reason.TLS, "nobody answered") == f"{told}, or not as it should; try http://x.example:8080/a"


def test_a_wrong_certificate_is_no_reason_to_go_without() -> None:
    assert "http://" not in advice(Reason.TLS, "SSL certificate problem: self-signed certificate")


@pytest.mark.parametrize("reason", list(Reason))
def test_every_reason_has_a_sentence(reason: Reason) -> None:
    assert len(advice(reason)) > 20


def test_an_unknown_name_is_to_be_spelled_again_and_what_is_not_known_is_not_said() -> None:
    assert "check its spelling" in advice(Reason.DNS)
    assert advice(None) == seed_advice(None) == ""
