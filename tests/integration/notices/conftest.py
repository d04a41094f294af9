"""A mail server for the tests of notices."""

from collections.abc import Iterator

import pytest

from tests.integration.inbox import Inbox, receiving_mail


@pytest.fixture
def inbox() -> Iterator[Inbox]:
    with receiving_mail() as box:
        yield box
