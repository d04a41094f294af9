"""A long list of wrong values is refused at the first of them: each more is an error that others wait for."""

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from crawler.entrypoints.api.routes.phases import RunCrawl
from crawler.entrypoints.api.routes.projects import PreviewAsked
from crawler.entrypoints.api.routes.queue import BulkOrder, NewEntries
from crawler.entrypoints.firecrawl.bodies import BatchBody


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (PreviewAsked, "urls"),
        (NewEntries, "urls"),
        (BulkOrder, "ids"),
        (RunCrawl, "fetch_only_urls"),
        (BatchBody, "urls"),
    ],
)
def test_one_error_is_enough(model: type[BaseModel], name: str) -> None:
    wrong: list[Any] = [None] * 1000
    with pytest.raises(ValidationError) as caught:
        model.model_validate({name: wrong})
    assert sum(error["loc"][0] == name for error in caught.value.errors()) == 1
