"""Live crawl events over WebSocket: connections, their limits, and sending to slow clients."""
