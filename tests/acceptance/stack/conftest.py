"""One `crawler up` for all tests in this folder: starting one takes longer than most of them.

Each looks only at what is its own. Their files are in the order of how hard they are on the stack: receivers and
services that hang, then workers that are killed, and at last Redis.
"""

import base64
from collections.abc import Iterator

import pytest

from tests.acceptance.running import Running, running
from tests.embedding_twin import DIMENSION
from tests.integration.embedding_server import EmbeddingServer, embedding_server
from tests.integration.inbox import Inbox, receiving_mail

WEBHOOK_KEY = b"0123456789abcdef0123456789abcdef"
EMBED_TIMEOUT_SECONDS = 8
LEASE_SECONDS = 6
SETTINGS = {
    # What killed workers held is soon somebody else's.
    "CRAWLER_HTTP_TIMEOUT_SECONDS": "3",
    "CRAWLER_LEASE_SECONDS": str(LEASE_SECONDS),
    "CRAWLER_RECONCILE_SECONDS": "2",
    "CRAWLER_EXTRACT_TIMEOUT_SECONDS": "4",
    "CRAWLER_CLASSIFY_TASK": "example.classify",
    "CRAWLER_EMBED_MODEL": "test",
    "CRAWLER_EMBED_DIMENSION": str(DIMENSION),
    "CRAWLER_EMBED_TIMEOUT_SECONDS": str(EMBED_TIMEOUT_SECONDS),
    "CRAWLER_MAIL_FROM": "crawler@example.org",
    "CRAWLER_PRODUCT_NAME": "Acme",
    "CRAWLER_WEBHOOK_SECRET": f"whsec_{base64.b64encode(WEBHOOK_KEY).decode()}",
    "CRAWLER_DASHBOARD_URL": "https://dash.example.org",
    "FLOWER_UNAUTHENTICATED_API": "true",
}


@pytest.fixture(scope="package")
def inbox() -> Iterator[Inbox]:
    with receiving_mail() as box:
        yield box


@pytest.fixture(scope="package")
def embedding() -> Iterator[EmbeddingServer]:
    """Refuses everybody at once: no document gets a vector, so every search is one for words."""
    with embedding_server() as service:
        service.status, service.failures = 401, -1
        yield service


@pytest.fixture(scope="package")
def up(tmp_path_factory: pytest.TempPathFactory, inbox: Inbox, embedding: EmbeddingServer) -> Iterator[Running]:
    services = {"CRAWLER_SMTP_URL": f"smtp://127.0.0.1:{inbox.port}", "CRAWLER_EMBED_URL": embedding.url}
    with running(tmp_path_factory.mktemp("stack"), **SETTINGS, **services) as up:
        yield up
