"""Forms: what was typed, and what is wrong with it."""
