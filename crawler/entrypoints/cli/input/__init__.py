"""What a person typed, and what is wrong with it."""
