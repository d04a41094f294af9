"""What the heavier commands do. Loaded when they are called, not for their help or their errors of usage."""
