"""Operating the service: Celery, live events, metrics, dashboard sessions, live workers, politeness audit."""
