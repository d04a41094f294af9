"""Every scenario, by what it hurts. Importing this registers them."""

from tests.chaos.scenarios import (
    backups,
    brokers,
    crawls,
    judging,
    networks,
    postgres,
    redis,
    shards,
    standins,
    workers,
)

__all__ = ["backups", "brokers", "crawls", "judging", "networks", "postgres", "redis", "shards", "standins", "workers"]
