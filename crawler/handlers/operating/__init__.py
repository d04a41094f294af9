"""Use cases of operating the service: runtime settings, canary tasks, idempotent requests."""
