"""What people do to crawls while things break."""
