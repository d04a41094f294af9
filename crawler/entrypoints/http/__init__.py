"""What the API and the dashboard share: keys, sessions, errors, limits, lists."""
