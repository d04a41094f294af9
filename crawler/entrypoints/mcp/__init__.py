"""The door for agents (Model Context Protocol): tools over our own HTTP API, so that the same keys and rules hold."""
