"""Every scenario, by what it hurts. Importing this registers them."""

from tests.chaos.scenarios import crawls, networks, postgres, redis, workers

__all__ = ["crawls", "networks", "postgres", "redis", "workers"]
