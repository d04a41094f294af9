"""Celery, events, metrics, sessions, and who is at work."""
