"""Use cases of hosts: pause, delay and deny by operators, recovery after rate limiting, overviews."""
