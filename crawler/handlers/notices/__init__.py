"""Schedules and notifications."""
