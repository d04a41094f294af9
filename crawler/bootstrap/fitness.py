"""Checks at the start of a worker, of beat and of the service: a machine that must not take part says why and ends."""

from crawler import telemetry
from crawler.adapters.postgres.database import connect, transaction
from crawler.adapters.postgres.schema import check_schema
from crawler.adapters.postgres.secret_key_owner import claim_secret_key
from crawler.bootstrap.secret_key import secret_box_of
from crawler.config import Settings
from crawler.errors import CrawlerError, ForeignSecretKey, SchemaOutdated, SettingsError

log = telemetry.logger(__name__)


def refuse_unfit_machine(settings: Settings) -> None:
    """End if the database is of another release, whose rows this program would misread, or has secrets of another key.

    A database that does not answer may come back, so it is no reason to end.
    """
    if settings.database_url is None:
        return
    database = connect(settings.database_url.get_secret_value(), 1)
    try:
        check_schema(database)
        with transaction(database) as db:
            claim_secret_key(db, secret_box_of(settings))
    except (SchemaOutdated, ForeignSecretKey, SettingsError) as exc:
        raise SystemExit(exc.message) from exc
    except CrawlerError as exc:
        log.warning("machine_not_checked", detail=exc.message)
    finally:
        database.dispose()
