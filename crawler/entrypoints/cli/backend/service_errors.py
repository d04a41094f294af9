"""Maps errors of a service to the errors local commands raise: same message, same exit status."""

from collections.abc import Iterator
from contextlib import contextmanager

from crawler import client as service
from crawler import errors
from crawler.entrypoints.cli.input.option_names import told_in_options
from crawler.errors import (
    Conflict,
    CrawlerError,
    Forbidden,
    Invalid,
    InvalidConfig,
    NotFound,
    Unauthorized,
    Unavailable,
)

_NO_SUCH_PATH = "no_such_path"
_BY_CODE = {
    kind.code: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, CrawlerError)
}
_BY_STATUS = {kind.http_status: kind for kind in (Unauthorized, Forbidden, NotFound, Conflict, Invalid, Unavailable)}


@contextmanager
def told_as_ours() -> Iterator[None]:
    try:
        yield
    except service.ClientError as exc:
        raise ours(exc) from exc


@contextmanager
def in_option_names() -> Iterator[None]:
    """Refusals name options, wherever they come from."""
    try:
        with told_as_ours():
            yield
    except InvalidConfig as exc:
        raise told_in_options(exc) from exc


def ours(exc: service.ClientError) -> CrawlerError:
    if not isinstance(exc, service.Problem) or exc.code == _NO_SUCH_PATH:
        return Unavailable(f"{exc} Is CRAWLER_API_URL right, and does 'crawler up' run there?")
    if exc.status == Unauthorized.http_status:
        return Unauthorized("The service does not know this key; set CRAWLER_API_KEY to one of its own.")
    if isinstance(exc, service.Unavailable):
        return Unavailable(str(exc))
    return _BY_CODE.get(exc.code, _BY_STATUS.get(exc.status, CrawlerError))(str(exc))
