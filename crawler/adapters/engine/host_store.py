"""Hosts in Postgres: robots.txt, blocks, delays and pauses, kept even when Redis loses its data.

How long blocks and delays are, and which of several holds: `domain/hosts/politeness.py`.
"""

from datetime import datetime

from sqlalchemy import Engine, func, select
from sqlalchemy.dialects.postgresql import insert

from crawler.adapters.postgres.database import transaction
from crawler.adapters.postgres.tables import hosts
from crawler.domain.hosts.host import HostRecord, Slowdown


class HostStore:
    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def find_host(self, host: str) -> HostRecord | None:
        columns = [hosts.c[name] for name in HostRecord._fields]
        with transaction(self._engine) as db:
            row = db.execute(select(*columns).where(hosts.c.host == host)).one_or_none()
        return HostRecord(*row) if row else None

    def save_robots(self, host: str, record: HostRecord) -> None:
        self._save(host, **record._asdict())

    def save_block(self, host: str, until: datetime, learned_seconds: float, incidents: int) -> None:
        self._save(host, blocked_until=until, learned_seconds=learned_seconds, incidents=incidents)

    def slowdowns(self) -> list[Slowdown]:
        """The slowdowns of all hosts that have one."""
        c = hosts.c
        any_of = (c.learned_seconds > 0) | (c.blocked_until > func.now()) | c.paused | (c.delay_seconds > 0)
        with transaction(self._engine) as db:
            rows = db.execute(select(*(c[name] for name in Slowdown._fields)).where(any_of))
            return [Slowdown(*row) for row in rows]

    def find_slowdown(self, host: str) -> Slowdown | None:
        with transaction(self._engine) as db:
            query = select(*(hosts.c[name] for name in Slowdown._fields)).where(hosts.c.host == host)
            row = db.execute(query).one_or_none()
        return Slowdown(*row) if row else None

    def save_pause(self, host: str, *, paused: bool) -> None:
        self._save(host, paused=paused)

    def save_delay(self, host: str, seconds: float) -> None:
        self._save(host, delay_seconds=seconds)

    def save_denied(self, host: str, *, denied: bool, until: datetime | None) -> None:
        learned = 1.0 if denied else 0.0
        self._save(host, denied=denied, blocked_until=until, learned_seconds=learned, incidents=0)

    def is_denied(self, host: str) -> bool:
        with transaction(self._engine) as db:
            return bool(db.execute(select(hosts.c.denied).where(hosts.c.host == host)).scalar_one_or_none())

    def _save(self, host: str, **columns: object) -> None:
        row = {**columns, "updated_at": func.now()}
        with transaction(self._engine) as db:
            db.execute(insert(hosts).values(host=host, **row).on_conflict_do_update(index_elements=["host"], set_=row))
