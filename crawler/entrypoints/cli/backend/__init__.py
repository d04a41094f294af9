"""Who answers a command: this machine's servers, or a running service."""
