"""Schedules, and who is told what."""
