"""Schedules, beat entries and channels: mail, webhook, Apprise."""
