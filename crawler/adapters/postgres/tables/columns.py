"""Column definitions that many tables share."""

from typing import Any

from sqlalchemy import Boolean, CheckConstraint, Column, DateTime, ForeignKey, Integer, MetaData, Text, func, text
from sqlalchemy.dialects.postgresql import JSONB, UUID

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

UUID_ = UUID(as_uuid=True)
# Keys are compared byte by byte: faster than any language's order, and the same on every server.
KEY = Text(collation="C")


def now(name: str) -> Column[Any]:
    return Column(name, DateTime(timezone=True), nullable=False, server_default=func.now())


def when(name: str) -> Column[Any]:
    return Column(name, DateTime(timezone=True))


def count(name: str) -> Column[Any]:
    return Column(name, Integer, nullable=False, server_default="0")


def flag(name: str, *, default: bool) -> Column[Any]:
    return Column(name, Boolean, nullable=False, server_default=str(default).lower())


def json(name: str, default: str = "{}") -> Column[Any]:
    return Column(name, JSONB, nullable=False, server_default=text(f"'{default}'::jsonb"))


def project(*, nullable: bool = False) -> Column[Any]:
    return Column("project_id", UUID_, ForeignKey("projects.id", ondelete="CASCADE"), nullable=nullable)


def one_of(column: str, *values: str) -> CheckConstraint:
    return CheckConstraint(f"{column} IN ({', '.join(repr(v) for v in values)})", name=column)
