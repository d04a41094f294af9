"""Readers of live events over WebSocket."""
