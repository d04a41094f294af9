"""Projects and crawls from start to end."""
