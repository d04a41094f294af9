"""Generated requests over the whole description: no answer 5xx, none that is not described. Bounded and repeatable."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from crawler.domain.api_keys import ApiKey, Scope
from crawler.embedded import Servers
from crawler.entrypoints.api.app import create_app
from crawler.entrypoints.http import failed_logins
from tests.databases import MakeDatabase
from tests.integration.live_engine import running_engine
from tests.site.client import Site

pytestmark = pytest.mark.slow

OF_TYPES = re.compile(r"Input should|Field required|Extra inputs|(String|List|Tuple|Value|Data) should")
"""Sentences of Pydantic about what the description says, too: types, limits and missing fields."""


BUSY_SECONDS = 120
"""To build the description takes a second, and ten times that on a busy machine; Schemathesis waits for ten."""


class Generated(NamedTuple):
    schema: Any
    headers: dict[str, str]
    known: dict[str, str]


@pytest.fixture(scope="module")
def generated(
    make_module_database: MakeDatabase, embedded_servers: Servers, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Generated]:
    """A service with something in it: a project that was crawled twice. Wrong keys are not counted."""
    with (
        pytest.MonkeyPatch.context() as patch,
        Site(tmp_path_factory.mktemp("site"), hosts=1, pages=5) as site,
        running_engine(make_module_database(), embedded_servers.redis_url) as engine,
    ):
        patch.setattr(failed_logins, "MOST_FAILURES", 10**9)
        tools = engine.tools
        key, secret = ApiKey.issue(name="generated", scope=Scope.ADMIN, now=tools.clock())
        tools.store.add_key(key)
        crawl = engine.crawl(site.url())
        engine.again(crawl)
        page = engine.page(crawl, crawl.seed_url)
        headers = {"Authorization": f"Bearer {secret}"}
        app = create_app(tools)
        schema = schemathesis.openapi.from_asgi("/api/v1/openapi.json", app, headers=headers, timeout=BUSY_SECONDS)
        known = {
            "project_id": crawl.project_id,
            "notebook_id": crawl.project_id,
            "crawl_id": crawl.id,
            "page_id": page["id"],
        }
        yield Generated(schema, headers, {name: str(value) for name, value in known.items()})


def check(case: Any, service: Generated) -> None:
    send(case, service, *([negative_data_rejection] if _may_arrive_otherwise(case) else []))
    # Again with ids that exist: behind them is more to break. With them the request may be valid again.
    known = {name: value for name, value in service.known.items() if name in (case.path_parameters or {})}
    if known and case.method != "DELETE":
        case.path_parameters = {**case.path_parameters, **known}
        send(case, service, negative_data_rejection)


def _may_arrive_otherwise(case: Any) -> bool:
    """Whether what is wrong may be lost on the way: a query writes an object as parameters of the names in it, and an
    empty list not at all."""
    return any(isinstance(value, dict) or value == [] for value in (case.query or {}).values())


def send(case: Any, service: Generated, *without: Any) -> None:
    """All checks that there are. Of valid requests only those may be refused that mean nothing."""
    answer = case.call_and_validate(
        headers=service.headers, excluded_checks=[positive_data_acceptance, *without], timeout=BUSY_SECONDS
    )
    if case.meta.generation.mode is GenerationMode.POSITIVE and answer.status_code == 422:
        problem = answer.json()
        assert problem["code"] != "invalid_body", problem
        errors = problem.get("errors", [])
        about_types = [error for error in errors if OF_TYPES.match(error["problem"]) and not _follows(error, errors)]
        assert not about_types, (case.method, case.path, about_types)


def _follows(error: dict[str, str], errors: list[dict[str, str]]) -> bool:
    """Whether something in it is wrong, too: what is refused for its meaning counts not among the items"""
    return any(other["where"].startswith(f"{error['where']}.") for other in errors)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("mode", "examples"),
    [
        (GenerationMode.NEGATIVE, 5),
        (GenerationMode.POSITIVE, 2),
        pytest.param(GenerationMode.NEGATIVE, 30, marks=pytest.mark.long),
        pytest.param(GenerationMode.POSITIVE, 10, marks=pytest.mark.long),
    ],
)
def test_no_request_gets_an_answer_that_is_not_described(
    generated: Generated, mode: GenerationMode, examples: int
) -> None:
    operations = [result.ok() for result in generated.schema.get_all_operations()]
    assert len(operations) > 30
    told: list[str] = []
    for operation in operations:

        @settings(
            max_examples=examples,
            derandomize=True,
            deadline=None,
            database=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def try_it(case: Any) -> None:
            check(case, generated)

        try:
            try_it()
        except Unsatisfiable:
            continue  # nothing about it can be wrong
        except (FailureGroup, Failure, AssertionError) as exc:
            told.append(f"{operation.label}: {exc}")
    assert not told, "\n\n".join(told)
