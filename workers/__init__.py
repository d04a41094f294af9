"""Celery workers: the app, its tasks, and the beat scheduler."""
