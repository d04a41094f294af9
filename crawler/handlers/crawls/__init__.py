"""Use cases of projects and crawls: start, seed, control, finish, report, reconcile."""
