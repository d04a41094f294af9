"""libpq's words, turned into what a person can do."""

import psycopg2
import pytest

from crawler.adapters.postgres.database import connect, unavailable

URL = "postgresql+psycopg2://me:hunter2@db.example/crawl"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('FATAL:  password authentication failed for user "me"', "refuses this user or password; correct"),
        ("fe_sendauth: no password supplied", "refuses this user or password; correct"),
        ('FATAL:  database "crawl" does not exist', "has no such database or role; create it"),
        ('could not translate host name "db.example" to address', "cannot be found; correct the host"),
        ("FATAL:  sorry, too many clients already", "has no free connection; raise its max_connections"),
        ('could not extend file "base/1": No space left on device', "has no disk space left; free some"),
        ("FATAL:  the database system is starting up", "is starting or stopping; try again"),
        ("connection refused", "does not answer; check that it runs"),
    ],
)
def test_each_problem_of_the_server_has_its_sentence(said: str, told: str) -> None:
    error = unavailable(psycopg2.OperationalError(said + "\n"), connect(URL))
    assert told in error.message
    assert "db.example" in error.message
    assert "hunter2" not in error.message
    assert "\n" not in error.message
