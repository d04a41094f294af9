"""The Celery door: the app and its tasks."""
