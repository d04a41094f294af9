"""Which differences are noise: clocks, tokens, counters, template edits, rules."""
