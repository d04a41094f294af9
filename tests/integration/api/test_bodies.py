"""What is sent is checked where it holds up nobody else."""

import asyncio
import time

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import BaseModel, field_validator

from crawler.entrypoints.http import threaded_bodies
from tests.integration.api.conftest import Service


def test_a_body_is_checked_outside_of_the_event_loop() -> None:
    """A rule of five kilobytes takes half a second: nobody would be answered meanwhile."""
    places: list[bool] = []

    class Slow(BaseModel):
        name: str

        @field_validator("name")
        @classmethod
        def _where(cls, value: str) -> str:
            try:
                asyncio.get_running_loop()
                places.append(True)
            except RuntimeError:
                places.append(False)
            return value

    threaded_bodies.install()
    app = FastAPI()

    @app.post("/")
    async def take(body: Slow) -> str:
        return body.name

    with TestClient(app) as client:
        assert client.post("/", json={"name": "x"}).json() == "x"
        assert client.post("/", json={"name": 1}).status_code == 422
    assert places == [False]


@pytest.mark.slow
def test_of_very_many_values_none_is_looked_at(service: Service) -> None:
    made = service.project()
    many = {"settings": {"render_rule": {"statuses": [*range(100, 400)] * 2000}}}
    extra = {f"k{number}": 1 for number in range(200_000)}
    for body in (many, extra):
        began = time.process_time()
        answer = service("PATCH", f"/projects/{made['id']}", json=body)
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert time.process_time() - began < 1.5, "with the making of the request"


def test_of_strangers_little_is_read(service: Service) -> None:
    """Megabytes of escapes take a second to read, and nobody knows yet who sent them."""
    service.client.cookies.clear()
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    for path in ("/login", "/act/x"):
        answers = [
            service.client.post(path, content=b"key=" + b"%zz" * times, headers=headers) for times in (2_000, 1_000_000)
        ]
        assert [answer.status_code == 413 for answer in answers] == [False, True], path


def test_commas_of_a_form_are_no_values(service: Service) -> None:
    fields = {"key": ",".join(["x"] * 60_000)}
    answer = service.client.post("/queue/add", data=fields, headers={"Sec-Fetch-Site": "same-origin"})
    assert answer.status_code != 413
