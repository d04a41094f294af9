"""Settings, canaries and idempotent requests."""
