"""Engine rules: what a response means, what a batch writes, page limits, and the engine's ports."""
