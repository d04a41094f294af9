"""HTTP requests by libcurl."""
