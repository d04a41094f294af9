"""Retries: how often each thing is retried, and the wait (backoff) between tries. All such numbers are here.

Randomness comes in as `jitter`, a number from -1 to 1.

| what fails | tries | wait between them | asked by |
|---|---|---|---|
| connect, timeout, DNS | `MAX_RETRIES` + 1 | `retry_delay` | `engine/judging.py` |
| 429, 503 | `MAX_RATE_LIMITED` | the host's block, `hosts/politeness.py` | `engine/judging.py` |
| a visit of the browser | `MAX_RENDERS` | `retry_delay` | `most_tries` |
| a probe | `PROBE_TRIES` | `retry_delay`; over several crawls `changes/probes.py`, `ROUNDS` | `most_tries` |
| robots.txt | `robots_wait` | `robots_wait` | `handlers/engine/robots_and_backoff.py` |
| a worker, with work in hand | `MOST_LOSSES` | its lease runs out | `lua/reap.lua`, documents, extraction |
| a queue's batch, before an entry's turn | `MAX_ROUNDS` | the next batch | `adapters/acquisition/queue_claims.py` |
| a scheduled crawl | one per `CRAWL_WAITS`, and the first | `CRAWL_WAITS` | `notices/schedule.py` |
| the start of a task, without its servers | one per `TASK_WAITS_SECONDS` | these | `workers/task_contract.py` |
| the commit of a batch | until half its leases' time is over | `commit_pause` | `handlers/engine/write_batch.py` |
| the embedder | one per `EMBED_WAITS_SECONDS`, and the first | these | `adapters/documents/openai_embedder.py` |

A notification is sent once and never retried, so that nobody gets it twice. People can send it again
(`handlers/notices/resend_notice.py`). The client library stands alone and has rules of its own
(`client/connection.py`), and so has the supervisor of processes (`supervisor/backoff.py`).
"""

from datetime import timedelta

from crawler.domain.reasons import Reason

JITTER = 0.1

MAX_RETRIES = 3
"""Retries after a connect error or timeout, besides the first try."""
FIRST_RETRY_SECONDS = 2.0
MAX_RATE_LIMITED = 5
"""A URL that was rate limited (429, 503) so often is given up."""
MAX_RENDERS = 3
"""A page that crashes or hangs the browser so often is given up."""
PROBE_TRIES = 2
"""A probe that fails is tried once more; the next crawl tries again."""

ABSENT = frozenset({Reason.DNS, Reason.CONNECT, Reason.TLS})
"""Failures of the host itself, whatever URL was requested."""
ROBOTS_HOLD_SECONDS = 1800.0
"""How long a host is held whose robots.txt cannot be read. Then its URLs are given up."""
ROBOTS_RETRY_SECONDS = 60.0
ROBOTS_STREAK_SECONDS = 600.0
"""A robots.txt failure so long after the last possible try starts a new count."""

MOST_LOSSES = 3
"""Workers that may be lost while working on one URL, entry or document. Then it is poison: it is given up."""
MAX_ROUNDS = 3
"""Batches that may end before a queue entry's turn came."""

CRAWL_WAITS = (timedelta(minutes=5), timedelta(minutes=15))
"""Waits before a failed scheduled crawl is retried. After these the run has failed."""
TASK_WAITS_SECONDS = (1, 3, 10, 30)
"""Waits before a task's start is retried while a server does not respond."""
EMBED_WAITS_SECONDS = (0.5, 2.0)
"""Waits before the embedder is retried. After these the documents wait, not the worker."""

FIRST_COMMIT_PAUSE_SECONDS = 0.2
_LONGEST_COMMIT_PAUSE_SECONDS = 5.0
MAX_RACES = 5
"""Commits of one batch that may conflict with another process writing the same row. Then its rows are written apart."""


def retry_delay(attempt: int, jitter: float) -> float:
    """Seconds before the `attempt`-th retry: 2, 4, 8, give or take a tenth."""
    return jittered(FIRST_RETRY_SECONDS * 2 ** (min(max(attempt, 1), MAX_RETRIES) - 1), jitter)


def most_tries(*, probe: bool = False, rendered: bool = False, lasting: bool = False) -> int:
    """How often an unreachable URL is requested. `lasting`: the browser says it will fail each time."""
    if probe:
        return PROBE_TRIES
    if not rendered:
        return MAX_RETRIES + 1
    return 1 if lasting else MAX_RENDERS


def robots_wait(failure: Reason | None, held_seconds: float) -> float | None:
    """Seconds until robots.txt is retried after it could not be read; None when its host is given up.

    If the host does not respond at all, its pages would fail too: robots.txt is tried as often as a page would be.
    """
    if failure not in ABSENT:
        return None if held_seconds >= ROBOTS_HOLD_SECONDS else ROBOTS_RETRY_SECONDS
    tried = 0.0
    for attempt in range(1, MAX_RETRIES + 1 if failure is not Reason.TLS else 1):
        if held_seconds < tried + FIRST_RETRY_SECONDS / 2:
            return retry_delay(attempt, 0.0)
        tried += retry_delay(attempt, 0.0)
    return None


def commit_pause(last_seconds: float) -> float:
    """The next wait while Postgres is away: twice the last, up to five seconds."""
    return min(2 * last_seconds, _LONGEST_COMMIT_PAUSE_SECONDS)


def jittered(seconds: float, jitter: float) -> float:
    return seconds * (1 + JITTER * min(max(jitter, -1.0), 1.0))
