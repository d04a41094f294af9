"""The acquisition queue."""
