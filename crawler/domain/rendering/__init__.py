"""Which pages need a browser."""
