"""The engine: shifts that claim, fetch, judge, write and complete."""
