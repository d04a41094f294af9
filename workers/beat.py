"""RedBeat's scheduler for thousands of entries: reads all due entries in one request, not one by one.

The fixed entries are `beat_schedule` in `adapters/operating/celery_app.py`. Those of users' schedules are written by
`adapters/notices/beat_entries.py`.
"""

from typing import Any

from redbeat import RedBeatScheduler
from redbeat.schedulers import RedBeatConfig, get_redis, to_timestamp


class _Config(RedBeatConfig):  # type: ignore[misc]
    """RedBeat's configuration, read once: RedBeat reads all of Celery's settings again for each command."""

    def __init__(self, app: Any) -> None:
        self._known: dict[str, Any] = {}
        super().__init__(app)

    def is_key_in_conf(self, name: str) -> Any:
        if name not in self._known:
            self._known[name] = super().is_key_in_conf(name)
        return self._known[name]


class BeatScheduler(RedBeatScheduler):  # type: ignore[misc]
    def __init__(self, app: Any, **options: Any) -> None:
        app.redbeat_conf = _Config(app)
        super().__init__(app, **options)

    @property
    def schedule(self) -> dict[str, Any]:
        """The due entries, and the next one, which tells how long to sleep."""
        redis, key = get_redis(self.app), self.app.redbeat_conf.schedule_key
        now = to_timestamp(self.app.now())
        with redis.pipeline() as pipe:
            pipe.zrangebyscore(key, 0, now)
            pipe.zrangebyscore(key, f"({now}", now + self.max_interval, start=0, num=1)
            due, soon = pipe.execute()
        names = [*due, *soon]
        with redis.pipeline() as pipe:
            for name in names:
                pipe.hmget(name, "definition", "meta")
            kept = pipe.execute()
        gone = [name for name, (definition, _) in zip(names, kept, strict=True) if not definition]
        if gone:
            redis.zrem(key, *gone)
        entries = (self._entry(*fields) for fields in kept if fields[0])
        return {entry.name: entry for entry in entries}

    def _entry(self, definition: str, meta: str | None) -> Any:
        said = self.Entry.decode_definition(definition) | self.Entry.decode_meta(meta)
        entry = self.Entry(app=self.app, **said)
        entry.last_run_at = said["last_run_at"]  # Celery sets it to the present time
        return entry
