"""The door for agents, by the official client."""
