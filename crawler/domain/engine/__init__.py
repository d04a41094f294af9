"""What a response means, what a batch writes, and what the engine needs from the outside."""
