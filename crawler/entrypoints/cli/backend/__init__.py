"""Backends of the commands: this machine's servers directly (local), or a running service over HTTP (remote)."""
