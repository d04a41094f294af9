"""One contract for all that make vectors; and what a service may do wrong."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from socket import socket

import pytest

from crawler.adapters.curl.handle import direct_options
from crawler.adapters.documents.local_embedder import LocalEmbedder
from crawler.adapters.documents.openai_embedder import OpenAIEmbedder
from crawler.domain.documents.embedding import Embedder, EmbeddingFailed
from crawler.domain.hosts.egress import EgressRule
from tests.embedding_twin import DIMENSION, EmbeddingTwin
from tests.integration.embedding_server import EmbeddingServer, embedding_server

OPTIONS = direct_options("tests", EgressRule(), None)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with embedding_server() as running:
        yield running


def openai(server: EmbeddingServer, **options: object) -> OpenAIEmbedder:
    given = {"key": "sk-secret", "batch": 3, "timeout_seconds": 2, "sleep": lambda _: None, **options}
    return OpenAIEmbedder(server.url, "test-model", DIMENSION, OPTIONS, **given)  # type: ignore[arg-type]


def local(folder: Path) -> LocalEmbedder:
    """A model of a few words, made here: no network."""
    model2vec = pytest.importorskip("model2vec", reason="the extra 'embed' is not installed")
    import numpy as np  # noqa: PLC0415 - comes with it
    from tokenizers import Tokenizer, models, pre_tokenizers  # noqa: PLC0415

    names = ["[UNK]", "rye", "bread", "wheat", "in", "a", "box"]
    tokenizer = Tokenizer(models.WordLevel({word: n for n, word in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    vectors = np.random.default_rng(1).normal(size=(len(names), DIMENSION)).astype("float32")
    model2vec.StaticModel(vectors=vectors, tokenizer=tokenizer).save_pretrained(folder)
    return LocalEmbedder(str(folder), DIMENSION)


@pytest.fixture(params=["twin", "openai", "local"])
def embedder(request: pytest.FixtureRequest, server: EmbeddingServer, tmp_path: Path) -> Embedder:
    if request.param == "openai":
        return openai(server)
    return local(tmp_path / "model") if request.param == "local" else EmbeddingTwin()


@pytest.mark.slow
def test_each_text_has_one_vector_in_its_place(embedder: Embedder) -> None:
    texts = [f"rye bread in a box {number}" for number in range(7)] + ["wheat"]
    together = embedder.embed(texts)
    assert [len(vector) for vector in together] == [embedder.dimension] * len(texts)
    alone = [embedder.embed([text])[0] for text in texts]
    for one, other in zip(together, alone, strict=True):
        assert list(one) == pytest.approx(list(other), abs=1e-5)
    assert list(together[0]) != pytest.approx(list(together[-1]), abs=1e-3)


def test_nothing_has_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([]) == []


def test_the_name_tells_models_and_dimensions_apart(server: EmbeddingServer) -> None:
    assert OpenAIEmbedder(server.url, "m", 3, OPTIONS).name != OpenAIEmbedder(server.url, "m", 4, OPTIONS).name


def test_texts_go_in_batches_with_the_key(server: EmbeddingServer) -> None:
    openai(server).embed(["a", "b", "c", "d"])
    assert [request["input"] for request in server.asked] == [["a", "b", "c"], ["d"]]
    assert set(server.keys) == {"Bearer sk-secret"}
    assert server.asked[0]["model"] == "test-model"


def test_a_service_that_hangs_costs_its_time_once_and_not_with_each_try(server: EmbeddingServer) -> None:
    server.hangs.set()
    waits: list[float] = []
    with pytest.raises(EmbeddingFailed, match="does not answer"):
        openai(server, timeout_seconds=0.5, sleep=waits.append).embed(["a"])
    server.hangs.clear()
    assert (waits, len(server.keys)) == ([], 1), "it was tried once"


def test_a_service_that_sends_its_head_a_byte_at_a_time_costs_no_more(server: EmbeddingServer) -> None:
    server.drips.set()
    began = time.monotonic()
    with pytest.raises(EmbeddingFailed, match="does not answer"):
        openai(server, timeout_seconds=0.5).embed(["a"])
    assert time.monotonic() - began < 2


@pytest.mark.parametrize("status", [429, 500, 503])
def test_what_may_pass_is_tried_again(server: EmbeddingServer, status: int) -> None:
    server.status, server.failures = status, 2
    waits: list[float] = []
    server.headers = {"Retry-After": "3"}
    assert len(openai(server, sleep=waits.append, timeout_seconds=30).embed(["a"])) == 1
    assert waits == [3, 3]
    server.failures = -1
    with pytest.raises(EmbeddingFailed, match="CRAWLER_EMBED_URL"):
        openai(server).embed(["a"])


@pytest.mark.parametrize(
    ("status", "names"), [(401, "CRAWLER_EMBED_KEY"), (404, "CRAWLER_EMBED_URL"), (302, "CRAWLER_EMBED_URL")]
)
def test_what_will_not_pass_is_told_at_once_and_names_the_setting(
    server: EmbeddingServer, status: int, names: str
) -> None:
    server.status, server.failures = status, -1
    server.headers = {"Location": server.url.replace("/v1", "/elsewhere")}
    with pytest.raises(EmbeddingFailed, match=names):
        openai(server).embed(["a"])
    assert len(server.asked) == 1


def test_a_wrong_dimension_names_the_setting(server: EmbeddingServer) -> None:
    server.dimension = 5
    with pytest.raises(EmbeddingFailed, match="vectors of 5 numbers, but CRAWLER_EMBED_DIMENSION is 32"):
        openai(server).embed(["a"])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no json",
        b"[]",
        b"null",
        b'{"data": null}',
        b'{"data": [1]}',
        b'{"data": []}',
        b'{"data": [{"index": 7, "embedding": [1]}]}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": 0, "embedding": "base64"}]}',
        b'{"data": [{"index": null, "embedding": []}]}',
        b'{"data": [{"index": {}, "embedding": []}]}',
        b'{"data": [{"embedding": [' + b",".join([b'"x"'] * DIMENSION) + b"]}]}",
        b'{"data": [{"embedding": [' + b",".join([b"null"] * DIMENSION) + b"]}]}",
        b'{"data": [{"embedding": [' + b",".join([b"1e999"] * DIMENSION) + b"]}]}",
        b'{"data": [{"embedding": [' + b",".join([b"true"] * DIMENSION) + b"]}]}",
    ],
)
def test_an_answer_that_is_none_is_refused(server: EmbeddingServer, body: bytes) -> None:
    server.body = body
    with pytest.raises(EmbeddingFailed):
        openai(server).embed(["a"])


def test_a_long_answer_is_refused_before_it_is_read(server: EmbeddingServer) -> None:
    """Millions of empty objects: to read them would hold up the whole process."""
    server.body = b'{"data": [' + b",".join([b"{}"] * 100_000) + b"]}"
    with pytest.raises(EmbeddingFailed, match="more than any vectors would need"):
        openai(server).embed(["a"])


def test_a_service_that_is_not_there_is_told(server: EmbeddingServer) -> None:
    with closing(socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    gone = OpenAIEmbedder(f"http://127.0.0.1:{port}/v1", "m", 3, OPTIONS, sleep=lambda _: None)
    with pytest.raises(EmbeddingFailed, match="does not answer"):
        gone.embed(["a"])


def test_the_key_is_in_no_message(server: EmbeddingServer) -> None:
    server.status, server.failures, server.body = 400, -1, b'{"error": "bad key sk-secret"}'
    with pytest.raises(EmbeddingFailed) as told:
        openai(server).embed(["a"])
    assert "sk-secret" not in told.value.message
