"""The HTTP API (FastAPI): the application, its routes, response shapes and live events over WebSocket."""
