"""Every error this product raises on purpose.

::

    CrawlerError
    ├── Invalid                 422  the caller gave something unusable
    │   ├── InvalidUrl
    │   ├── InvalidPattern
    │   ├── InvalidConfig
    │   └── TooSlowToTry        what was asked takes longer than one request may
    ├── NotFound                404
    ├── Unauthorized            401
    ├── Forbidden               403
    ├── Conflict                409  the thing is in a state that does not allow it
    │   ├── InvalidTransition
    │   └── CrawlRunning
    ├── SettingsError           exit 2: the environment of this process is wrong
    ├── EgressRefused           the address may not be dialled
    ├── PageNotFetched          422  a page was asked for and cannot be had; `reason` says why
    └── Unavailable             503  a server we need does not answer as it should
        ├── JudgesBusy
        ├── DatabaseUnavailable
        │   └── DatabaseContended
        ├── SchemaOutdated
        ├── RedisUnavailable
        ├── DataDirUnusable
        └── ForeignSecretKey

A class's docstring is its message when none is given; `code` is stable for programs.
"""


class CrawlerError(Exception):
    """Something went wrong."""

    code = "error"
    http_status = 500
    exit_code = 1

    def __init__(self, message: str | None = None, **details: object) -> None:
        super().__init__(message or (type(self).__doc__ or "").strip())
        self.details = details

    @property
    def message(self) -> str:
        return str(self.args[0])


class Invalid(CrawlerError):
    """The request is not valid."""

    code = "invalid"
    http_status = 422
    exit_code = 2


class InvalidUrl(Invalid):
    """This is not a URL the crawler can fetch."""

    code = "invalid_url"


class InvalidPattern(Invalid):
    """This pattern is not a valid regular expression."""

    code = "invalid_pattern"


class InvalidConfig(Invalid):
    """These crawl options are not valid."""

    code = "invalid_config"


class TooSlowToTry(Invalid):
    """Judging this takes longer than one request may; try fewer crawls or pages, or a simpler rule."""

    code = "too_slow_to_try"


class SearchTooSlow(Invalid):
    """This search takes longer than it may; use fewer or rarer words."""

    code = "search_too_slow"


class NotFound(CrawlerError):
    """There is no such thing."""

    code = "not_found"
    http_status = 404
    exit_code = 4


class Unauthorized(CrawlerError):
    """A valid API key is needed."""

    code = "unauthorized"
    http_status = 401


class Forbidden(CrawlerError):
    """This API key does not allow that."""

    code = "forbidden"
    http_status = 403


class Conflict(CrawlerError):
    """The present state does not allow that."""

    code = "conflict"
    http_status = 409
    exit_code = 5


class InvalidTransition(Conflict):
    """This change of state is not allowed."""

    code = "invalid_transition"


class CrawlRunning(Conflict):
    """A crawl of this project is already running."""

    code = "crawl_running"


class SettingsError(CrawlerError):
    """A setting is not valid."""

    code = "invalid_setting"
    exit_code = 2


class EgressRefused(CrawlerError):
    """This address may not be reached from here."""

    code = "egress"
    http_status = 422
    exit_code = 2


class PageNotFetched(CrawlerError):
    """This page cannot be had."""

    code = "page_not_fetched"
    http_status = 422


class Unavailable(CrawlerError):
    """A server this needs is not available."""

    code = "unavailable"
    http_status = 503
    exit_code = 3


class JudgesBusy(Unavailable):
    """Others are having pages judged, as many as may at once; try again in a few seconds."""

    code = "judges_busy"


class DatabaseUnavailable(Unavailable):
    """Postgres does not answer."""

    code = "database_unavailable"


class DatabaseContended(DatabaseUnavailable):
    """Others were writing the same rows at the same time; nothing was changed, try again."""

    code = "database_contended"


class SchemaOutdated(Unavailable):
    """The database schema is not the one this version needs."""

    code = "schema_outdated"


class RedisUnavailable(Unavailable):
    """Redis does not answer."""

    code = "redis_unavailable"


class DataDirUnusable(Unavailable):
    """The data directory cannot be used."""

    code = "data_dir_unusable"


class ForeignSecretKey(Unavailable):
    """This machine's secret key is not the one that encrypts this database's secrets."""

    code = "foreign_secret_key"
