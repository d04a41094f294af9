"""Checks at the start of a worker, of beat and of the service: a machine that must not take part says why and ends."""

from crawler import telemetry
from crawler.adapters.postgres.database import connect
from crawler.adapters.postgres.schema import check_schema
from crawler.config import Settings
from crawler.errors import CrawlerError, SchemaOutdated

log = telemetry.logger(__name__)


def refuse_other_schema(settings: Settings) -> None:
    """End if the database is of another release, whose rows this program would misread.

    A database that does not answer may come back, so it is no reason to end.
    """
    if settings.database_url is None:
        return
    database = connect(settings.database_url.get_secret_value(), 1)
    try:
        check_schema(database)
    except SchemaOutdated as exc:
        raise SystemExit(exc.message) from exc
    except CrawlerError as exc:
        log.warning("schema_not_checked", detail=exc.message)
    finally:
        database.dispose()
