"""A self-hosted, distributed site crawler and change watcher."""

__version__ = "0.1.0"
