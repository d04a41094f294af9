"""Load and run the Lua scripts of `lua/`: called by hash, loaded again when the server does not have them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from hashlib import sha1
from importlib.resources import files
from typing import Any, NamedTuple

from redis import Redis
from redis.exceptions import NoScriptError, RedisError

from crawler.adapters.frontier.redis_connection import Argument, HeldConnection, redis_unavailable

# Files that are put before a script's own file; scripts that are not named here need none.
_STATE = ("layout", "host_rules", "crawls", "leases")
_PAIRS = (*_STATE, "pair_rules")
_ENTRIES = (*_STATE, "entries")
_PARTS: Mapping[str, tuple[str, ...]] = {
    "claim": (*_PAIRS, "serving"),
    "complete": _STATE,
    "discover": _ENTRIES,
    "drop": _STATE,
    "expired": _STATE,
    "fill": _ENTRIES,
    "change_host": _STATE,
    "read_hosts": _STATE,
    "moments": _STATE,
    "open": _STATE,
    "pause": _STATE,
    "readmit": _ENTRIES,
    "reap": _STATE,
    "rebuild": _STATE,
    "release": _STATE,
    "sequence": _STATE,
    "share": _STATE,
    "stats": _STATE,
    "waiting": _PAIRS,
}


class Script(NamedTuple):
    text: str
    sha: str
    """The server's name for the script. It protects nothing."""

    @classmethod
    def of(cls, text: str) -> "Script":
        return cls(text, sha1(text.encode(), usedforsecurity=False).hexdigest())


@cache
def load(name: str) -> Script:
    folder = files("crawler.adapters.frontier") / "lua"
    return Script.of("\n".join((folder / f"{part}.lua").read_text("utf-8") for part in (*_PARTS.get(name, ()), name)))


class Scripts:
    def __init__(self, client: Redis, setting: str = "CRAWLER_REDIS_URL") -> None:
        self._client = client
        self._setting = setting
        self._call: Callable[..., Any] = HeldConnection(client)

    def command(self, *args: Argument) -> Any:
        with self._redis_errors():
            return self._call(*args)

    def run(self, name: str, keys: Sequence[Argument], args: Sequence[Argument]) -> Any:
        script = load(name)
        with self._redis_errors():
            try:
                return self._call("EVALSHA", script.sha, len(keys), *keys, *args)
            except NoScriptError:  # a restarted server has no scripts; EVAL loads this one
                return self._call("EVAL", script.text, len(keys), *keys, *args)

    @contextmanager
    def _redis_errors(self) -> Iterator[None]:
        """Map all errors of Redis and of the connection to one error of ours."""
        try:
            yield
        except RedisError as exc:
            error = redis_unavailable(self._client, exc, self._setting)
            error.details["detail"] = str(exc)
            raise error from exc
